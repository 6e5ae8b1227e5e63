#pragma once

namespace isomer::gpu {

/// Something that a runtime keeps for each thread, CUDA's current context or HIP's current device: the wanted
/// one while this object lives, and afterwards whatever was.
template <class Value, class Result>
class Switched {
 public:
  /// `must(result, is_set)` throws where a call failed: of the getter, or of the setter.
  template <class Must>
  Switched(Result (*get)(Value*), Result (*set)(Value), Value wanted, const Must& must) : set_(set) {
    must(get(&before_), false);
    changed_ = before_ != wanted;
    if (changed_) must(set(wanted), true);
  }
  ~Switched() {
    if (changed_) set_(before_);
  }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

 private:
  Result (*set_)(Value);
  Value before_{};
  bool changed_ = false;
};

}  // namespace isomer::gpu
