// The page of a batch with ten thousand rows, in a browser.
#include "../batch/batches.hpp"

#include <fstream>

namespace isomer::tests {
namespace {

class Page : public Batch {
 protected:
  static std::string browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (std::system(("command -v " + std::string(name) + " >/dev/null").c_str()) == 0) return name;
    return {};
  }
};

// Every filter finds what the lines say, and its answer is there at once.
TEST_F(Page, OfTenThousandRowsOpensAndItsFiltersFindWhatThereIs) {
  if (browser().empty()) GTEST_SKIP() << "there is no browser: apt-get install chromium";
  write_folders(2);
  EXPECT_EQ(isomer("check " + path("cases") + " --jsonl " + path("two.jsonl")).exit, 2);
  constexpr int kRows = 10000;
  int failed = 0, of_author = 0;
  std::ofstream rows(path("all.jsonl"));
  const std::vector<std::string> two = lines(path("two.jsonl"));
  ASSERT_EQ(two.size(), 2u);
  for (int i = 0; i < kRows; ++i) {
    Json line = Json::parse(two[static_cast<std::size_t>(i % 3 == 0)]);
    line["folder"] = "answers/" + std::to_string(i);
    line["author"] = "<b>model</b> " + std::to_string(i % 7);
    failed += line["verdict"] == "fail";
    of_author += i % 7 == 3;
    rows << line.dump() << "\n";
  }
  rows.close();
  EXPECT_EQ(isomer("report merge " + path("all.jsonl") + " --html " + path("page.html")).exit, 2);
  // What a reader would do, behind the page's own script; the answers stand in the document that comes back.
  std::string page = read(path("page.html"));
  const std::string end = "</body>";
  page.insert(page.rfind(end), R"(<script>
const asked = {opened: performance.now(), all: count.textContent, drawn: body.rows.length,
  bold: document.querySelectorAll("b").length};
const ask = (name, field, value) => {
  const begin = performance.now();
  form.reset();
  form.elements[field].value = value;
  form.dispatchEvent(new Event("input"));
  asked[name] = count.textContent;
  asked[name + "_ms"] = performance.now() - begin;
};
ask("failed", "verdict", "=fail");
ask("author", "author", "=<b>model</b> 3");
ask("finding", "finding", "=does-not-compile");

ask("answers", "text", "answers/");
const said = document.createElement("pre");
said.id = "asked";
said.textContent = "ASKED" + JSON.stringify(asked) + "ASKED";
document.body.append(said);
</script>)");
  write("asked.html", page);
  const std::string words =
      browser() +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=" + path("profile") +
      " --dump-dom file://" + path("asked.html") + " >" + path("dom") + " 2>" + path("err");
  ASSERT_EQ(std::system(words.c_str()), 0) << read(path("err"));
  const std::string dom = read(path("dom"));
  const std::size_t begin = dom.rfind("ASKED{"), last = dom.rfind("}ASKED");
  ASSERT_NE(begin, std::string::npos) << dom.substr(0, 400);
  std::string said = dom.substr(begin + 5, last - begin - 4);
  for (const auto& [written, meant] : {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&amp;", "&"}})
    for (std::size_t at = 0; (at = said.find(written, at)) != std::string::npos;)
      said.replace(at, std::string(written).size(), meant);
  const Json asked = Json::parse(said);
  const auto of = [](int number) { return std::to_string(number) + " of 10000 candidates"; };
  EXPECT_EQ(asked["all"], of(kRows));
  EXPECT_EQ(asked["drawn"], 200);
  EXPECT_EQ(asked["failed"], of(failed));
  EXPECT_EQ(asked["author"], of(of_author));
  EXPECT_EQ(asked["finding"], of(failed));
  EXPECT_EQ(asked["answers"], of(kRows));
  EXPECT_EQ(asked["bold"], 0);  // what others have written is text
  RecordProperty("asked", asked.dump());
  std::printf("%s\n", asked.dump().c_str());
}

}  // namespace
}  // namespace isomer::tests
