// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/step_log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "mcap/crc32.h"
#include "runtime/recording/recording_layout.h"

namespace leapp::runtime {
namespace {

constexpr const char* kExpected = "expected a recording of LEAPP (Recorder)";

const std::string* find(const mcap::TextMap& map, std::string_view key) {
  const auto at = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; });
  return at == map.end() ? nullptr : &at->second;
}

std::string text_of(const mcap::TextMap& map, std::string_view key) {
  const std::string* found = find(map, key);
  return found == nullptr ? "" : *found;
}

/// "[1,48]". Nothing when it is no such text.
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text.front() != ',' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return shape;
}

std::optional<std::size_t> elements_of(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count)) return std::nullopt;
  }
  return empty ? 0 : count;
}

Result<StepLogReader::Port> parse_port(const mcap::Channel& channel) {
  const std::string* name = find(channel.metadata, kChannelPort);
  const auto dtype = parse_dtype(text_of(channel.metadata, kChannelDType));
  const auto shape = parse_shape(text_of(channel.metadata, kChannelShape));
  const auto elements = shape ? elements_of(*shape) : std::nullopt;
  const std::string layout = text_of(channel.metadata, kChannelLayout);
  if (name == nullptr || !dtype || !is_port_dtype(*dtype) || !elements || (layout != "values" && layout != "fields")) {
    return data_loss(fmt::format("channel {}: expected port, dtype, shape and layout in its metadata, found others",
                                 quote(channel.topic)));
  }
  auto codec = layout == "values" ? PortCodec::make(*dtype, *elements) : PortCodec::make_fields(*dtype, *elements);
  if (!codec.ok()) return data_loss(fmt::format("channel {}: {}", quote(channel.topic), codec.status().message()));
  return StepLogReader::Port{*name, *dtype, *shape, std::move(codec).value()};
}

}  // namespace

Status StepLogReader::at(std::uint64_t offset, const Status& status) const {
  return {status.code(), fmt::format("byte {}: {}", offset, status.message())};
}

std::string StepLogReader::about(std::string_view key) const { return text_of(about_, key); }

Result<StepLogReader> StepLogReader::open(std::string_view bytes) {
  if (!bytes.starts_with(mcap::kMagic)) {
    return data_loss("expected an MCAP file, which begins with \\x89MCAP0, found something else");
  }
  StepLogReader recording(mcap::Records(bytes.substr(mcap::kMagic.size()), mcap::kMagic.size()));
  const auto first = recording.records_.next();
  if (!first || first->opcode != mcap::Opcode::kHeader) {
    return data_loss("expected the header of an MCAP file, found none: it ends too early, or is damaged");
  }
  LEAPP_ASSIGN_OR_RETURN(const mcap::Header header, mcap::parse_header(*first));
  if (header.profile != kRecordingProfile) {
    return unimplemented(fmt::format("{}, profile \"leapp\"; found an MCAP file of {} with profile {}", kExpected,
                                     quote(header.library), quote(header.profile)));
  }
  LEAPP_RETURN_IF_ERROR(recording.read_definitions());
  LEAPP_RETURN_IF_ERROR(recording.check_definitions());
  return recording;
}

Status StepLogReader::read_definitions() {
  while (const auto record = records_.next()) {
    switch (record->opcode) {
      case mcap::Opcode::kMetadata:
        LEAPP_RETURN_IF_ERROR(read_metadata(*record));
        break;
      case mcap::Opcode::kSchema: {
        const auto schema = mcap::parse_schema(*record);
        if (!schema.ok()) return schema.status();
        break;
      }
      case mcap::Opcode::kChannel:
        LEAPP_RETURN_IF_ERROR(add_channel(*record));
        break;
      case mcap::Opcode::kMessage:
        return unimplemented(fmt::format("byte {}: {}, found a message outside of a chunk", record->offset, kExpected));
      case mcap::Opcode::kChunk:
        first_chunk_ = record;
        return check_compression(*record);
      case mcap::Opcode::kDataEnd:
        first_chunk_ = record;
        return {};
      default:
        break;
    }
  }
  cut_off_ = true;
  return {};
}

Status StepLogReader::read_metadata(const mcap::Record& record) {
  LEAPP_ASSIGN_OR_RETURN(mcap::Metadata metadata, mcap::parse_metadata(record));
  if (metadata.name == kRecordingMetadata) about_ = std::move(metadata.entries);
  if (metadata.name == kFilesMetadata) files_ = std::move(metadata.entries);
  return {};
}

Status StepLogReader::add_channel(const mcap::Record& record) {
  LEAPP_ASSIGN_OR_RETURN(const mcap::Channel channel, mcap::parse_channel(record));
  const std::string role = text_of(channel.metadata, kChannelRole);
  if (role.empty() || channel.encoding != kMessageEncoding) {
    return unimplemented(fmt::format("{}, found a channel {} of another program", kExpected, quote(channel.topic)));
  }
  constexpr std::array<std::pair<const char*, Role>, 6> kRoles{{{"input", Role::kInput},
                                                                {"output", Role::kOutput},
                                                                {"state", Role::kState},
                                                                {"start", Role::kStart},
                                                                {"guards", Role::kMemory},
                                                                {"step", Role::kStep}}};
  const auto known = std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& one) { return one.first == role; });
  if (known == kRoles.end()) {
    return unimplemented(fmt::format("channel {}: expected a part in the recording that is known, found {}",
                                     quote(channel.topic), quote(role)));
  }
  Channel made{known->second, 0};
  if (made.role != Role::kMemory && made.role != Role::kStep) {
    LEAPP_ASSIGN_OR_RETURN(Port port, parse_port(channel));
    if (made.role == Role::kStart) {
      made.port = starts_.size();
      starts_.push_back(port.name);
    } else {
      auto& ports = made.role == Role::kInput ? inputs_ : made.role == Role::kOutput ? outputs_ : states_;
      made.port = ports.size();
      ports.push_back(std::move(port));
    }
  }
  if (!channels_.emplace(channel.id, made).second) {
    return data_loss(fmt::format("channel {}: its number, {}, is another's", quote(channel.topic), channel.id));
  }
  return {};
}

Status StepLogReader::check_definitions() {
  if (const std::string version = about("version"); version != kRecordingVersion) {
    return unimplemented(fmt::format("expected a recording of version {}, found {}", kRecordingVersion,
                                     version.empty() ? "none" : quote(version)));
  }
  const auto steps =
      std::count_if(channels_.begin(), channels_.end(), [](const auto& one) { return one.second.role == Role::kStep; });
  const bool same = std::equal(states_.begin(), states_.end(), starts_.begin(), starts_.end(),
                               [](const Port& state, const std::string& start) { return state.name == start; });
  if (steps != 1 || !same) {
    return data_loss(
        "expected a channel for the steps, and for each state one of what it begins with, before the first chunk: the "
        "file ends too early, is damaged, or was written anew by another program");
  }
  return {};
}

Status StepLogReader::check_compression(const mcap::Record& record) const {
  LEAPP_ASSIGN_OR_RETURN(const mcap::ChunkRecord chunk, mcap::parse_chunk(record));
  if (chunk.head.compression.empty()) return {};
  return unimplemented(fmt::format("byte {}: expected chunks that are not compressed, as LEAPP writes them, found {}",
                                   record.offset, quote(chunk.head.compression)));
}

Result<bool> StepLogReader::next_chunk() {
  for (;;) {
    const auto record = first_chunk_ ? std::exchange(first_chunk_, std::nullopt) : records_.next();
    if (!record) {
      cut_off_ = true;
      return false;
    }
    if (record->opcode == mcap::Opcode::kDataEnd) {
      records_ = mcap::Records({}, record->offset);
      first_chunk_ = record;  // and every time that it is asked for again
      return false;
    }
    if (record->opcode == mcap::Opcode::kMessage || record->opcode == mcap::Opcode::kChannel) {
      return unimplemented(
          fmt::format("byte {}: {}, found a message or channel outside of a chunk", record->offset, kExpected));
    }
    if (record->opcode != mcap::Opcode::kChunk) continue;
    LEAPP_RETURN_IF_ERROR(check_compression(*record));
    LEAPP_ASSIGN_OR_RETURN(const mcap::ChunkRecord chunk, mcap::parse_chunk(*record));
    const std::uint32_t crc = chunk.head.uncompressed_crc;
    const bool sound =
        chunk.head.uncompressed_size == chunk.records.size() && (crc == 0 || crc == mcap::crc32(chunk.records));
    if (!sound && records_.rest().empty()) {  // the machine ended while it was written
      cut_off_ = true;
      return false;
    }
    if (!sound) return data_loss(fmt::format("byte {}: a chunk is not what its checksum says", record->offset));
    chunk_ = mcap::Records(chunk.records, chunk.offset);
    chunk_begin_ = record->offset;
    return true;
  }
}

Status StepLogReader::take_values(const Channel& channel, std::string_view data, RecordedStep& step) {
  const bool start = channel.role == Role::kStart;
  const auto& ports = channel.role == Role::kInput ? inputs_ : channel.role == Role::kOutput ? outputs_ : states_;
  auto& values = channel.role == Role::kInput    ? step.inputs
                 : channel.role == Role::kOutput ? step.outputs
                 : start                         ? step.starts
                                                 : step.states;
  std::size_t& seen = seen_[static_cast<std::size_t>(channel.role)];
  const Port& port = ports[channel.port];
  if (channel.port != seen) {
    return data_loss(
        fmt::format("{}: expected one value of each port in a step, in the order of the channels", port.name));
  }
  if (data.size() != port.codec.size()) {
    return data_loss(fmt::format("{}: expected {} bytes for {}, found {}", port.name, port.codec.size(),
                                 type_text(port.dtype, port.shape), data.size()));
  }
  if (values.size() <= seen) values.resize(seen + 1);
  values[seen].resize(port.codec.bytes());
  const Status decoded = port.codec.decode(data, values[seen].data());
  ++seen;
  return decoded.ok() ? decoded : Status(decoded.code(), fmt::format("{}: {}", port.name, decoded.message()));
}

Status StepLogReader::check_whole(const RecordedStep& step) const {
  const auto seen = [&](Role role) { return seen_[static_cast<std::size_t>(role)]; };
  const bool starts = seen(Role::kStart) == 0 || seen(Role::kStart) == starts_.size();
  if (seen(Role::kInput) == inputs_.size() && seen(Role::kOutput) == outputs_.size() &&
      seen(Role::kState) == states_.size() && starts && sequence_ == static_cast<std::uint32_t>(step.info.number)) {
    return {};
  }
  return data_loss(fmt::format("step {}: expected a value of each port, found some only", step.info.number));
}

Status StepLogReader::take(const mcap::Record& record, RecordedStep& step, bool& whole) {
  if (record.opcode != mcap::Opcode::kMessage) {
    return unimplemented(fmt::format("{}, found a chunk with something else than messages", kExpected));
  }
  LEAPP_ASSIGN_OR_RETURN(const mcap::MessageRecord message, mcap::parse_message(record));
  const auto channel = channels_.find(message.head.channel);
  if (channel == channels_.end()) {
    return data_loss(fmt::format("expected a channel that was defined, found {}", message.head.channel));
  }
  if (sequence_.value_or(message.head.sequence) != message.head.sequence) {
    return data_loss(fmt::format("step {}: expected its message about the step, found the next step", *sequence_));
  }
  sequence_ = message.head.sequence;
  switch (channel->second.role) {
    case Role::kMemory: {
      LEAPP_ASSIGN_OR_RETURN(const std::string_view memory, decode_memory(message.data));
      step.memory = std::string(memory);
      return {};
    }
    case Role::kStep: {
      LEAPP_ASSIGN_OR_RETURN(step.info, decode_step(message.data));
      step.log_time = message.head.log_time;
      whole = true;
      return check_whole(step);
    }
    default:
      return take_values(channel->second, message.data, step);
  }
}

Result<bool> StepLogReader::next(RecordedStep& step) {
  seen_.assign(6, 0);
  sequence_.reset();
  step.memory.reset();
  for (bool whole = false; !whole;) {
    const auto record = chunk_.next();
    if (record) {
      const Status taken = take(*record, step, whole);
      if (!taken.ok()) return at(record->offset, taken);
      continue;
    }
    if (!chunk_.rest().empty() || sequence_) {
      return at(chunk_.offset(), data_loss("expected whole steps in a chunk, found a part of one at its end"));
    }
    LEAPP_ASSIGN_OR_RETURN(const bool there, next_chunk());
    if (!there) return false;
  }
  if (seen_[static_cast<std::size_t>(Role::kStart)] == 0) step.starts.clear();
  step.inputs.resize(inputs_.size());
  step.outputs.resize(outputs_.size());
  step.states.resize(states_.size());
  return true;
}

}  // namespace leapp::runtime
