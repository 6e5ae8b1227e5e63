#include "attempt.hpp"

#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace isomer::bad_input {
namespace {

int refused_calls = 0;

}  // namespace

Attempt::Attempt(const std::string& line) : function_(&function_of(oracle::op_of(line))) {
  const oracle::Case parsed = oracle::parse_case(line);
  problem_ = std::make_unique<oracle::Problem>(parsed.seed() != 0 ? parsed : parsed.with_seed(1));
  oracle::find_oracle(function_->op)->make(problem_->made_from(), *problem_);
  isomer_queue* queue = nullptr;
  if (isomer_queue_cpu(nullptr, &queue) != ISOMER_OK) throw std::runtime_error(isomer_last_error());
  c_queue_.reset(queue, isomer_queue_free);
}

std::string Attempt::sentence_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_argument) << error.what();
    ++refused_calls;
    return error.what();
  }
  return {};
}

std::string Attempt::cxx() {
  return sentence_of([this] { function_->cxx(queue_, call()); });
}

std::string Attempt::explain() {
  return sentence_of([this] {
    EXPECT_NE(function_->explain(queue_, call()).implementation, "") << problem_->made_from().line();
  });
}

std::string Attempt::c(const CTensors& tensors) {
  const isomer_status status = function_->c(c_queue_.get(), call(), tensors);
  if (status == ISOMER_OK) return {};
  EXPECT_EQ(status, ISOMER_BAD_ARGUMENT) << isomer_last_error();
  ++refused_calls;
  return isomer_last_error();
}

std::string Attempt::bytes() const {
  std::string all;
  for (const oracle::Problem::Buffer& buffer : problem_->buffers())
    all.append(reinterpret_cast<const char*>(buffer.base), buffer.bytes);
  return all;
}

void Attempt::restore(const std::string& bytes) {
  const char* from = bytes.data();
  for (const oracle::Problem::Buffer& buffer : problem_->buffers()) {
    std::memcpy(buffer.base, from, buffer.bytes);
    from += buffer.bytes;
  }
}

void Attempt::check_sentence(const std::string& sentence, const std::string& what) const {
  EXPECT_TRUE(sentence.starts_with(function_->op + ": ")) << what << " gave: " << sentence;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  EXPECT_FALSE(sentence.ends_with('.')) << sentence;
  EXPECT_LT(sentence.size(), 300u) << sentence;
}

std::string Attempt::refused_in_cxx(const std::string& what) {
  const std::string before = bytes();
  const std::string sentence = cxx();
  check_sentence(sentence, what);
  EXPECT_EQ(explain(), sentence) << what;
  EXPECT_TRUE(bytes() == before) << what << " was refused, but wrote: " << sentence;
  return sentence;
}

std::string Attempt::refused(const std::string& what) {
  const std::string sentence = refused_in_cxx(what);
  EXPECT_EQ(refused_in_c(CTensors(call()), what), sentence) << what;
  return sentence;
}

std::string Attempt::refused_in_c(const CTensors& tensors, const std::string& what) {
  const std::string before = bytes();
  const std::string sentence = c(tensors);
  check_sentence(sentence, what);
  EXPECT_TRUE(bytes() == before) << what << " was refused, but wrote: " << sentence;
  return sentence;
}

int Attempt::count() { return refused_calls; }

}  // namespace isomer::bad_input
