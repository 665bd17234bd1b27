// Finds the procedure linkage table's stubs and names them by the symbol they lead to.
//
// From what: sections whose names start with .plt or .iplt, cut into entries of the section's entry size, and the
// relocations. A stub ends in a jump through a slot of the global offset table; the relocation of that slot names the
// function. That holds for .plt, .plt.sec and .plt.got of all linkers, so the code is decoded and not the layout
// guessed. With indirect-branch tracking, the stubs of .plt itself have no such jump: they push the index of their
// relocation and go on to the resolver.
//
// Exactness: what is not recognised has no name. Cost: a few instructions for each stub, one pass over the relocations.
#include "symbols/plt.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kUsualEntrySize = 16;
constexpr std::uint64_t kMaximalEntrySize = 64;

/// What a slot will hold.
struct Target {
  std::string name;
  std::uint64_t resolver = 0;
};

/// What relocations say about slots.
struct Relocations {
  std::unordered_map<std::uint64_t, Target> by_slot;
  std::vector<Target> by_index;  // of .rela.plt
};

std::string symbol_name(Elf* elf, Elf_Data* symbols, std::size_t strings, std::uint64_t index) {
  GElf_Sym symbol;
  if (symbols == nullptr || index == 0 || gelf_getsym(symbols, static_cast<int>(index), &symbol) == nullptr) return {};
  const char* name = elf_strptr(elf, strings, symbol.st_name);
  return name != nullptr ? name : "";
}

void add_relocations(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, bool is_plt, Relocations& relocations) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  Elf_Scn* symbol_section = elf_getscn(elf, header.sh_link);
  GElf_Shdr symbol_header;
  Elf_Data* symbols = nullptr;
  std::size_t strings = 0;
  if (header.sh_link != 0 && symbol_section != nullptr && gelf_getshdr(symbol_section, &symbol_header) != nullptr) {
    symbols = elf_getdata(symbol_section, nullptr);
    strings = symbol_header.sh_link;
  }
  for (std::size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
    GElf_Rela relocation;
    if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr) break;
    const std::uint64_t type = GELF_R_TYPE(relocation.r_info);
    Target target;
    if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) {
      target.name = symbol_name(elf, symbols, strings, GELF_R_SYM(relocation.r_info));
    } else if (type == R_X86_64_IRELATIVE) {
      target.resolver = static_cast<std::uint64_t>(relocation.r_addend);
    }
    if (is_plt) relocations.by_index.push_back(target);
    if (!target.name.empty() || target.resolver != 0) relocations.by_slot.emplace(relocation.r_offset, target);
  }
}

/// What one stub does.
struct StubCode {
  std::optional<std::uint64_t> slot;    // address it jumps through
  std::optional<std::uint64_t> pushed;  // number it pushes
};

StubCode decode_stub(const ZydisDecoder& decoder, std::span<const unsigned char> bytes, std::uint64_t address) {
  StubCode code;
  for (std::size_t at = 0; at < bytes.size();) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZyanStatus status =
        ZydisDecoderDecodeFull(&decoder, bytes.data() + at, bytes.size() - at, &instruction, operands);
    if (!ZYAN_SUCCESS(status)) break;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_PUSH && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      code.pushed = operands[0].imm.value.u;
    }
    if (instruction.mnemonic == ZYDIS_MNEMONIC_JMP) {
      ZyanU64 target = 0;
      if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].mem.base == ZYDIS_REGISTER_RIP &&
          ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[0], address + at, &target))) {
        code.slot = target;
      }
      break;
    }
    at += instruction.length;
  }
  return code;
}

/// What the section header says is not always so: static programs have stubs of 8 bytes in a .plt of 16.
std::uint64_t entry_size(const ZydisDecoder& decoder, std::span<const unsigned char> bytes, const GElf_Shdr& header) {
  constexpr std::size_t kShort = 8;
  if (bytes.size() >= 2 * kShort && decode_stub(decoder, bytes.first(kShort), header.sh_addr).slot &&
      decode_stub(decoder, bytes.subspan(kShort, kShort), header.sh_addr + kShort).slot) {
    return kShort;
  }
  const bool plausible = header.sh_entsize >= kShort && header.sh_entsize <= kMaximalEntrySize;
  return plausible ? header.sh_entsize : kUsualEntrySize;
}

void add_stubs(std::span<const unsigned char> bytes, const GElf_Shdr& header, const Relocations& relocations,
               Plt& plt) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const std::uint64_t size = entry_size(decoder, bytes, header);
  for (std::uint64_t at = 0; at + size <= bytes.size(); at += size) {
    const StubCode code = decode_stub(decoder, bytes.subspan(at, size), header.sh_addr + at);
    PltStub stub;
    stub.start = header.sh_addr + at;
    stub.end = stub.start + size;
    const auto found = code.slot ? relocations.by_slot.find(*code.slot) : relocations.by_slot.end();
    const Target* target = nullptr;
    if (found != relocations.by_slot.end()) {
      target = &found->second;
      stub.is_callable = true;
    } else if (!code.slot && code.pushed && *code.pushed < relocations.by_index.size()) {
      target = &relocations.by_index[*code.pushed];
    }
    if (target != nullptr) {
      stub.name = target->name;
      stub.resolver = target->resolver;
    }
    plt.stubs.push_back(std::move(stub));
  }
}

}  // namespace

Plt read_plt(Elf* elf) {
  struct Code {
    GElf_Shdr header;
    Elf_Scn* section;
  };
  Plt plt;
  std::vector<Code> code;
  Relocations relocations;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return plt;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* raw_name = elf_strptr(elf, names, header.sh_name);
    const std::string_view name = raw_name != nullptr ? raw_name : "";
    if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) != 0) {
      add_relocations(elf, section, header, name == ".rela.plt", relocations);
    }
    const bool is_code = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0;
    if (is_code && (name.starts_with(".plt") || name.starts_with(".iplt"))) code.push_back({header, section});
  }
  for (const Code& part : code) {
    plt.sections.push_back({part.header.sh_addr, part.header.sh_addr + part.header.sh_size});
    const Elf_Data* data = elf_rawdata(part.section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    add_stubs({static_cast<const unsigned char*>(data->d_buf), data->d_size}, part.header, relocations, plt);
  }
  std::sort(plt.stubs.begin(), plt.stubs.end(), [](const PltStub& a, const PltStub& b) { return a.start < b.start; });
  return plt;
}

}  // namespace loopfold::symbols
