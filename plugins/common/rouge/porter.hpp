// Porter's stemmer ("An algorithm for suffix stripping", Program 14.3, 1980) with the changes of NLTK's PorterStemmer in its
// default mode, NLTK_EXTENSIONS (nltk/stem/porter.py). Snowball's "porter" returns different stems.
#pragma once

#include <string>

namespace backplane::rouge {

// Replaces the word, ASCII lower-case letters and digits, by its stem. A digit counts as a consonant.
void PorterStem(std::string* word);

}  // namespace backplane::rouge
