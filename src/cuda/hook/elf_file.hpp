// An ELF file as it lies on the disk, read without allocating anything: what of it the dynamic linker does
// not load (symbols, the names of sections) is found there only.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace lanescope::cuda {

/// A file in memory; every read is checked against its size.
class File {
 public:
  explicit File(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      void* mapped = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) {
        data_ = static_cast<const char*>(mapped);
        size_ = static_cast<uint64_t>(info.st_size);
      }
    }
    close(file);
  }
  ~File() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// `count` objects at an offset, or nullptr if they are not all inside.
  template <typename T>
  [[nodiscard]] const T* at(uint64_t offset, uint64_t count = 1) const {
    if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) ||
        offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }
  /// A string that ends inside [offset, end).
  [[nodiscard]] const char* string(uint64_t offset, uint64_t end) const {
    if (end > size_ || offset >= end) return nullptr;
    return std::memchr(data_ + offset, 0, end - offset) != nullptr ? data_ + offset : nullptr;
  }

 private:
  const char* data_ = nullptr;
  uint64_t size_ = 0;
};

/// The sections of a file; none if it is no ELF file.
class Sections {
 public:
  explicit Sections(const File& file) {
    const auto* header = file.at<Elf64_Ehdr>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shstrndx >= header->e_shnum)
      return;
    list_ = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    if (list_ == nullptr) return;
    count_ = header->e_shnum;
    const Elf64_Shdr& names = list_[header->e_shstrndx];
    names_begin_ = names.sh_offset;
    names_end_ = names.sh_offset + names.sh_size;
  }
  [[nodiscard]] const Elf64_Shdr* at(uint64_t index) const {
    return index < count_ ? list_ + index : nullptr;
  }
  [[nodiscard]] const Elf64_Shdr* of_type(uint32_t type) const {
    for (uint64_t i = 0; i < count_; ++i)
      if (list_[i].sh_type == type) return list_ + i;
    return nullptr;
  }
  [[nodiscard]] const Elf64_Shdr* named(const File& file, const char* name) const {
    for (uint64_t i = 0; i < count_; ++i) {
      const char* own = file.string(names_begin_ + list_[i].sh_name, names_end_);
      if (own != nullptr && std::strcmp(own, name) == 0) return list_ + i;
    }
    return nullptr;
  }

 private:
  const Elf64_Shdr* list_ = nullptr;
  uint64_t count_ = 0, names_begin_ = 0, names_end_ = 0;
};

/// Whether an address lies in a section.
inline bool holds(const Elf64_Shdr* section, uint64_t address) {
  return section != nullptr && address - section->sh_addr < section->sh_size;
}

}  // namespace lanescope::cuda
