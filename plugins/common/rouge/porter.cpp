#include "rouge/porter.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace backplane::rouge {
namespace {

struct Rule {
  std::string_view suffix, replacement;
};

// Words with irregular stems.
constexpr Rule kIrregular[] = {{"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
                               {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
                               {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
                               {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};

// In the order of the paper: of several suffixes that fit, the first one decides.
constexpr Rule kStep1a[] = {{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}};
constexpr Rule kStep2[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
                           {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
                           {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
                           {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
                           {"fulli", "ful"}};
constexpr Rule kStep3[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                           {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
constexpr Rule kStep4[] = {{"al", ""},  {"ance", ""},  {"ence", ""}, {"er", ""},  {"ic", ""},  {"able", ""}, {"ible", ""},
                           {"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""}, {"ion", ""}, {"ou", ""},   {"ism", ""},
                           {"ate", ""}, {"iti", ""},   {"ous", ""},  {"ive", ""}, {"ize", ""}};

bool IsVowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// A y is a consonant at the start and after a vowel, so a run of them alternates.
bool IsConsonant(std::string_view word, size_t i) {
  bool turned = false;
  for (; i > 0 && word[i] == 'y'; --i) turned = !turned;
  return !IsVowel(word[i]) != turned;
}

// m of the paper: how often a consonant follows a vowel.
int Measure(std::string_view stem) {
  int measure = 0;
  bool consonant = true;
  for (size_t i = 0; i < stem.size(); ++i) {
    const bool before = consonant;
    consonant = stem[i] == 'y' ? i == 0 || !before : !IsVowel(stem[i]);
    measure += i > 0 && consonant && !before;
  }
  return measure;
}

bool ContainsVowel(std::string_view stem) {
  for (size_t i = 0; i < stem.size(); ++i)
    if (IsVowel(stem[i]) || (stem[i] == 'y' && i > 0 && !IsVowel(stem[i - 1]))) return true;
  return false;
}

// *o of the paper, and a word of a vowel and a consonant.
bool EndsCvc(std::string_view word) {
  const size_t n = word.size();
  if (n == 2) return !IsConsonant(word, 0) && IsConsonant(word, 1);
  const char last = n == 0 ? 'w' : word[n - 1];
  return n > 2 && IsConsonant(word, n - 3) && !IsConsonant(word, n - 2) && IsConsonant(word, n - 1) && last != 'w' &&
         last != 'x' && last != 'y';
}

std::string_view Without(const std::string& word, size_t n) { return std::string_view(word).substr(0, word.size() - n); }

void Replace(std::string* word, size_t suffix, std::string_view replacement) {
  word->resize(word->size() - suffix);
  word->append(replacement);
}

void Apply(std::string* word, std::span<const Rule> rules, int least_measure) {
  for (const Rule& rule : rules) {
    if (!word->ends_with(rule.suffix)) continue;
    if (Measure(Without(*word, rule.suffix.size())) >= least_measure) Replace(word, rule.suffix.size(), rule.replacement);
    return;
  }
}

// Repairs a word after removing -ed or -ing.
void Mend(std::string* word) {
  const char last = word->back();
  if (word->ends_with("at") || word->ends_with("bl") || word->ends_with("iz")) {
    word->push_back('e');
  } else if (word->size() > 1 && last == (*word)[word->size() - 2] && IsConsonant(*word, word->size() - 1)) {
    if (last != 'l' && last != 's' && last != 'z') word->pop_back();
  } else if (Measure(*word) == 1 && EndsCvc(*word)) {
    word->push_back('e');
  }
}

void Step1(std::string* word) {
  if (word->size() == 4 && word->ends_with("ies"))
    word->pop_back();
  else
    Apply(word, kStep1a, 0);

  if (word->ends_with("ied")) {
    word->resize(word->size() - (word->size() == 4 ? 1 : 2));
  } else if (word->ends_with("eed")) {
    if (Measure(Without(*word, 3)) > 0) word->pop_back();
  } else {
    const size_t suffix = word->ends_with("ed") ? 2 : word->ends_with("ing") ? 3 : 0;
    if (suffix > 0 && ContainsVowel(Without(*word, suffix))) {
      word->resize(word->size() - suffix);
      Mend(word);
    }
  }

  const size_t n = word->size();
  if (n > 2 && word->back() == 'y' && IsConsonant(*word, n - 2)) word->back() = 'i';
}

void Step2(std::string* word) {
  // "alli" is tested before "bli", and its result repeats the step.
  if (word->ends_with("alli") && Measure(Without(*word, 4)) > 0) Replace(word, 4, "al");
  if (word->ends_with("logi")) {
    if (Measure(Without(*word, 3)) > 0) word->pop_back();  // the l belongs to the stem, for geo- and theo-
  } else {
    Apply(word, kStep2, 1);
  }
}

void Step4(std::string* word) {
  const size_t n = word->size();
  if (word->ends_with("ion") && (n < 4 || ((*word)[n - 4] != 's' && (*word)[n - 4] != 't'))) return;
  Apply(word, kStep4, 2);
}

void Step5(std::string* word) {
  if (word->ends_with("e")) {
    const std::string_view stem = Without(*word, 1);
    const int measure = Measure(stem);
    if (measure > 1 || (measure == 1 && !EndsCvc(stem))) word->pop_back();
  }
  if (word->ends_with("ll") && Measure(Without(*word, 1)) > 1) word->pop_back();
}

}  // namespace

void PorterStem(std::string* word) {
  const auto irregular =
      std::find_if(std::begin(kIrregular), std::end(kIrregular), [&](const Rule& r) { return r.suffix == *word; });
  if (irregular != std::end(kIrregular)) {
    word->assign(irregular->replacement);
    return;
  }
  if (word->size() <= 2) return;
  Step1(word);
  Step2(word);
  Apply(word, kStep3, 1);
  Step4(word);
  Step5(word);
}

}  // namespace backplane::rouge
