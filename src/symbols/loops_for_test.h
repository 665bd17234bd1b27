// For tests: the natural loops of a compiled function, from its machine code: disassembled with Zydis, cut into blocks,
// dominators by sets, one loop for each header. Slow and obvious. Indirect jumps end a path.
#pragma once

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "symbols/loop_source.h"

namespace loopfold::symbols {

struct BlockForTest {
  std::uint64_t first = 0;  // address of the first instruction
  std::uint64_t last = 0;   // of the last one
  std::vector<std::uint64_t> successors;
};

/// The blocks of the function whose bytes are `code`, loaded at `address`.
inline std::map<std::uint64_t, BlockForTest> blocks_for_test(std::span<const unsigned char> code,
                                                             std::uint64_t address) {
  struct Instruction {
    std::uint64_t next = 0;
    bool falls_through = true;
    bool ends_block = false;
    std::vector<std::uint64_t> targets;
  };
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  std::map<std::uint64_t, Instruction> instructions;
  std::set<std::uint64_t> leaders = {address};
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &decoded, operands))) break;
    Instruction instruction;
    instruction.next = address + at + decoded.length;
    const ZydisInstructionCategory category = decoded.meta.category;
    const bool is_jump = category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
    instruction.ends_block = is_jump || category == ZYDIS_CATEGORY_RET;
    instruction.falls_through = category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET;
    ZyanU64 target = 0;
    if (is_jump && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operands[0], address + at, &target)) && target >= address &&
        target < address + code.size()) {
      instruction.targets.push_back(target);
      leaders.insert(target);
    }
    if (instruction.ends_block) leaders.insert(instruction.next);
    instructions.emplace(address + at, instruction);
    at += decoded.length;
  }
  std::map<std::uint64_t, BlockForTest> blocks;
  BlockForTest* block = nullptr;
  for (const auto& [place, instruction] : instructions) {
    if (block == nullptr || leaders.contains(place)) {
      block = &blocks[place];
      block->first = place;
    }
    block->last = place;
    if (instruction.ends_block || leaders.contains(instruction.next)) {
      block->successors = instruction.targets;
      if (instruction.falls_through && instructions.contains(instruction.next)) {
        block->successors.push_back(instruction.next);
      }
    }
  }
  return blocks;
}

/// For each block that can be reached, the blocks that are on all ways to it.
inline std::map<std::uint64_t, std::set<std::uint64_t>> dominators_for_test(
    const std::map<std::uint64_t, BlockForTest>& blocks, std::uint64_t entry) {
  std::map<std::uint64_t, std::set<std::uint64_t>> dominators = {{entry, {entry}}};
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [from, block] : blocks) {
      if (!dominators.contains(from)) continue;
      for (const std::uint64_t to : block.successors) {
        std::set<std::uint64_t> through = dominators[from];
        through.insert(to);
        const auto [place, is_new] = dominators.try_emplace(to, through);
        std::set<std::uint64_t> both;
        std::set_intersection(place->second.begin(), place->second.end(), through.begin(), through.end(),
                              std::inserter(both, both.begin()));
        both.insert(to);
        changed = changed || is_new || both != place->second;
        place->second = std::move(both);
      }
    }
  }
  return dominators;
}

/// By header address.
inline std::vector<LoopAddresses> loops_for_test(std::span<const unsigned char> code, std::uint64_t address) {
  const std::map<std::uint64_t, BlockForTest> blocks = blocks_for_test(code, address);
  const std::map<std::uint64_t, std::set<std::uint64_t>> dominators = dominators_for_test(blocks, address);
  std::map<std::uint64_t, std::set<std::uint64_t>> predecessors;
  for (const auto& [from, block] : blocks) {
    for (const std::uint64_t to : block.successors) predecessors[to].insert(from);
  }
  std::vector<LoopAddresses> loops;
  for (const auto& [header, unused] : blocks) {
    std::vector<std::uint64_t> latches;
    for (const std::uint64_t from : predecessors[header]) {
      if (dominators.contains(from) && dominators.at(from).contains(header)) latches.push_back(from);
    }
    if (latches.empty()) continue;
    std::set<std::uint64_t> inside = {header};
    std::vector<std::uint64_t> work = latches;
    while (!work.empty()) {
      const std::uint64_t block = work.back();
      work.pop_back();
      if (!dominators.contains(block) || !inside.insert(block).second) continue;
      work.insert(work.end(), predecessors[block].begin(), predecessors[block].end());
    }
    LoopAddresses loop;
    loop.header = header;
    for (const std::uint64_t latch : latches) loop.latch_branches.push_back(blocks.at(latch).last);
    for (const std::uint64_t start : inside) {
      const BlockForTest& block = blocks.at(start);
      loop.instructions.push_back(start);
      const bool leaves = std::any_of(block.successors.begin(), block.successors.end(),
                                      [&](std::uint64_t to) { return !inside.contains(to); });
      if (leaves) loop.exit_branches.push_back(block.last);
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace loopfold::symbols
