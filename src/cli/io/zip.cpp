// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kStart = std::size_t{128} << 10U;
// What deflate can make of one byte at most.
constexpr std::uint64_t kBestRatio = 1032;
constexpr std::uint16_t kFirstDay = 0x0021;  // 1980-01-01, as DOS counts

struct ErrorText {
  zip_error_t error{};
  ErrorText() { zip_error_init(&error); }
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;
  ~ErrorText() { zip_error_fini(&error); }
  std::string text() { return zip_error_strerror(&error); }
};

struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
using Source = std::unique_ptr<zip_source_t, FreeSource>;

Result<Archive> open_archive(std::span<const std::byte> file) {
  if (file.empty()) return data_loss("not a zip file: it is empty");  // libzip takes it for one without members
  ErrorText error;
  Source source(zip_source_buffer_create(file.data(), file.size(), 0, &error.error));
  if (source == nullptr) return internal_error("libzip: " + error.text());
  Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, &error.error));
  if (archive == nullptr) return data_loss("not a zip file, or a damaged one: " + error.text());
  (void)source.release();  // the archive has it now
  return archive;
}

Status check_member(const zip_stat_t& about) {
  const std::string name = quote_brief(about.name);
  if (about.encryption_method != ZIP_EM_NONE) return data_loss(fmt::format("{} is encrypted", name));
  if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE) {
    return data_loss(fmt::format("{}: expected it stored or deflated, found method {}", name, about.comp_method));
  }
  const bool possible =
      about.comp_method == ZIP_CM_STORE ? about.size == about.comp_size : about.size / kBestRatio <= about.comp_size;
  if (!possible) return data_loss(fmt::format("{}: {} bytes cannot hold {}", name, about.comp_size, about.size));
  return {};
}

/// The members' entries in the directory. Together they are no larger than the file can hold, also when several share
/// the same data.
Result<std::vector<zip_stat_t>> list_members(zip_t* archive, std::uint64_t file_size) {
  std::vector<zip_stat_t> members;
  std::unordered_set<std::string> names;
  std::uint64_t packed = 0;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t about;
    zip_stat_init(&about);
    constexpr auto kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &about) != 0 || (about.valid & kNeeded) != kNeeded) {
      return data_loss(fmt::format("member {} of the zip file: {}", i, zip_strerror(archive)));
    }
    LEAPP_RETURN_IF_ERROR(check_member(about));
    if (!names.insert(about.name).second) return data_loss(fmt::format("{} occurs twice", quote_brief(about.name)));
    if (__builtin_add_overflow(packed, about.comp_size, &packed) || packed > file_size) {
      return data_loss(fmt::format("{}: the members are larger than the file", quote_brief(about.name)));
    }
    members.push_back(about);
  }
  return members;
}

/// One member, which is open: its beginning, then the rest.
class MemberReader {
 public:
  static Result<MemberReader> open(zip_t* archive, const zip_stat_t& about) {
    MemberReader reader(about);
    reader.file_.reset(zip_fopen_index(archive, about.index, 0));
    if (reader.file_ == nullptr) return reader.broken(zip_strerror(archive));
    LEAPP_RETURN_IF_ERROR(reader.read(std::min<std::uint64_t>(about.size, kStart)));
    return reader;
  }

  [[nodiscard]] const ZipStart& start() const { return start_; }

  Result<ZipMember> rest() && {
    LEAPP_RETURN_IF_ERROR(read(start_.size - start_.bytes.size()));
    // libzip compares the checksum when it comes to the end.
    std::byte beyond{};
    const zip_int64_t more = zip_fread(file_.get(), &beyond, 1);
    if (more < 0) return broken(zip_file_strerror(file_.get()));
    if (more != 0) return broken(kOtherSize);
    return ZipMember{std::move(start_.name), std::move(start_.bytes)};
  }

 private:
  static constexpr const char* kOtherSize = "its size is not the one it announces";

  explicit MemberReader(const zip_stat_t& about) : start_{about.name, about.size, {}} {}

  [[nodiscard]] Status broken(const char* why) const {
    return data_loss(fmt::format("{}: {}", quote_brief(start_.name), why));
  }

  Status read(std::uint64_t count) {
    const std::size_t before = start_.bytes.size();
    start_.bytes.resize(before + count);
    const zip_int64_t size = zip_fread(file_.get(), start_.bytes.data() + before, count);
    if (size < 0) return broken(zip_file_strerror(file_.get()));
    return static_cast<std::uint64_t>(size) == count ? Status() : broken(kOtherSize);
  }

  ZipStart start_;
  std::unique_ptr<zip_file_t, CloseMember> file_;
};

Status add_member(zip_t* archive, const ZipMember& member, bool deflated) {
  Source source(zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0));
  const zip_int64_t at =
      source == nullptr ? -1 : zip_file_add(archive, member.name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (at < 0) return invalid_argument(fmt::format("{}: {}", quote(member.name), zip_strerror(archive)));
  (void)source.release();
  const auto index = static_cast<zip_uint64_t>(at);
  if (zip_set_file_compression(archive, index, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, index, 0, kFirstDay, 0) != 0) {
    return internal_error(fmt::format("libzip: {}: {}", quote(member.name), zip_strerror(archive)));
  }
  return {};
}

Result<std::vector<std::byte>> contents_of(zip_source_t* source) {
  zip_stat_t about;
  zip_stat_init(&about);
  const auto failed = [source] {
    return internal_error(std::string("libzip: ") + zip_error_strerror(zip_source_error(source)));
  };
  if (zip_source_stat(source, &about) != 0 || zip_source_open(source) != 0) return failed();
  std::vector<std::byte> bytes(about.size);
  const zip_int64_t size = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (size < 0 || static_cast<std::uint64_t>(size) != about.size) return failed();
  return bytes;
}

}  // namespace

Result<std::vector<ZipMember>> read_zip(std::span<const std::byte> file, const ZipOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const Archive archive, open_archive(file));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<zip_stat_t> listed, list_members(archive.get(), file.size()));
  std::vector<ZipMember> members;
  std::uint64_t total = 0;
  for (const zip_stat_t& about : listed) {
    LEAPP_ASSIGN_OR_RETURN(MemberReader reader, MemberReader::open(archive.get(), about));
    if (options.wants) {
      LEAPP_ASSIGN_OR_RETURN(const bool wanted, options.wants(reader.start()));
      if (!wanted) continue;
    }
    if (__builtin_add_overflow(total, about.size, &total) || total > options.memory_limit) {
      return invalid_argument(
          fmt::format("{} and what comes before it need {} of memory, the option memory_limit is {}",
                      quote_brief(about.name), bytes_text(total), bytes_text(options.memory_limit)));
    }
    LEAPP_ASSIGN_OR_RETURN(ZipMember member, std::move(reader).rest());
    members.push_back(std::move(member));
  }
  return members;
}

Result<std::vector<std::byte>> zip_bytes(std::span<const ZipMember> members, bool deflated) {
  if (members.empty()) return invalid_argument("expected something to put into the zip file, found nothing");
  ErrorText error;
  const Source file(zip_source_buffer_create(nullptr, 0, 0, &error.error));
  if (file == nullptr) return internal_error("libzip: " + error.text());
  Archive archive(zip_open_from_source(file.get(), ZIP_CREATE | ZIP_TRUNCATE, &error.error));
  if (archive == nullptr) return internal_error("libzip: " + error.text());
  zip_source_keep(file.get());  // one for the archive, one for us
  for (const ZipMember& member : members) LEAPP_RETURN_IF_ERROR(add_member(archive.get(), member, deflated));
  if (zip_close(archive.get()) != 0) return internal_error(std::string("libzip: ") + zip_strerror(archive.get()));
  (void)archive.release();
  return contents_of(file.get());
}

}  // namespace leapp::cli
