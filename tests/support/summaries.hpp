// Documents with summaries for these tests, in files of a folder per process, and a vocabulary trained on them.
#pragma once

#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

class Summaries {
 public:
  static const Summaries& Instance() {
    static const Summaries instance;
    return instance;
  }
  ~Summaries() { std::filesystem::remove_all(folder_); }

  static std::vector<std::pair<std::string, std::string>> English() {
    return {
        {"The ferry to the island leaves at nine, and it takes an hour to get there.", "A ferry to the island at nine"},
        {"Rain fell on the hills all night, so the river is high and the bridge is closed.", "Bridge closed after the rain"},
        {"Our baker makes two kinds of bread, one of rye and one of wheat, and sells both warm.",
         "Warm bread of rye and wheat"},
        {"A night train with beds runs from the coast to the mountains three times a week.", "Night train to the mountains"},
        {"The old clock in the tower stands still because nobody has wound it for a year.", "Tower clock stands still"},
        {"Children from the village paint the wall of the school, each a tile of their own.", "Children paint the school wall"},
        {"When the lake freezes the boats are taken out and people skate from shore to shore.", "Skating on the lake"}};
  }
  static std::vector<std::pair<std::string, std::string>> Korean() {
    return {{"섬으로 가는 배는 아홉 시에 떠나고 한 시간이 걸립니다.", "아홉 시에 섬으로 가는 배"},
            {"밤새 비가 내려서 강물이 높고 다리가 막혔습니다.", "비가 내려 다리가 막힘"},
            {"산으로 가는 밤 기차는 한 주에 세 번 다닙니다.", "산으로 가는 밤 기차"}};
  }

  // Options that env.summarization requires.
  nlohmann::json options(const std::string& data = "english.tsv") const {
    return {{"data", File(data)}, {"tokenizer", File("spm.model")}};
  }
  std::string File(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return File(name);
  }

 private:
  Summaries() : folder_(std::filesystem::path(testing::TempDir()) / ("summaries_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::string lines;
    for (const auto& [name, pairs] : {std::pair{"english.tsv", English()}, std::pair{"korean.tsv", Korean()}}) {
      std::string table = "document\tsummary\n";
      for (const auto& [document, summary] : pairs) {
        table += document + "\t" + summary + "\n";
        lines += document + "\n" + summary + "\n";
      }
      Write(name, table);
    }
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        "--input=" + Write("lines.txt", lines) + " --model_prefix=" + File("spm") +
        " --vocab_size=220 --hard_vocab_limit=false --character_coverage=1 --bos_id=0 --pad_id=1 --eos_id=2 --unk_id=3"
        " --num_threads=1 --minloglevel=2");
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }

  std::filesystem::path folder_;
};
