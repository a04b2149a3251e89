// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// keygen, sign and verify.
#include "leapp/bundle/signing.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kWidth = 98;

struct KeygenOptions {
  std::string name;
};

struct SignCommand {
  std::string bundle;
  std::string key;
  std::uint64_t serial = 0;
};

struct VerifyCommand {
  std::string bundle;
  std::vector<std::string> keys;
  std::uint64_t minimum_serial = 0;
};

Result<ExitCode> keygen(const KeygenOptions& options, Context& context) {
  const std::string secret = options.name + ".private.pem";
  const std::string known = options.name + ".public.pem";
  LEAPP_ASSIGN_OR_RETURN(const bundle::KeyPair pair, bundle::write_key_pair(secret, known));
  if (context.json) {
    context.print_json({{"private", secret}, {"public", known}, {"key", pair.fingerprint}});
  } else {
    context.print(
        fmt::format("{}: signs bundles; keep it to yourself\n{}: verifies them; give it to the robots\n"
                    "key {}\n",
                    one_line(secret), one_line(known), pair.fingerprint));
  }
  return ExitCode::kFine;
}

Json signature_json(const bundle::Signature& signature) {
  return {{"key", signature.key},
          {"serial", signature.serial},
          {"files", signature.files},
          {"signatures", signature.signatures}};
}

std::string files_text(const bundle::Signature& signature) {
  return fmt::format("{}, serial {}", plural(signature.files, "file"), signature.serial);
}

Result<ExitCode> sign(const SignCommand& options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const bundle::Signature signature,
                         bundle::sign_bundle(options.bundle, options.key, {.serial = options.serial}));
  if (context.json) {
    context.print_json(signature_json(signature));
  } else {
    const std::size_t others = signature.signatures - 1;
    context.print(fmt::format("{}: signed {}{}\n  key {}\n", one_line(options.bundle), files_text(signature),
                              others == 0 ? "" : fmt::format(", beside {}", plural(others, "other")), signature.key));
  }
  return ExitCode::kFine;
}

// That a bundle is not what was signed is a finding; a key or a bundle that is none is wrong usage.
Result<ExitCode> verify(const VerifyCommand& options, Context& context) {
  const auto signature = bundle::verify_bundle(options.bundle, options.keys, options.minimum_serial);
  if (!signature.ok() && signature.status().code() != StatusCode::kDataLoss) return signature.status();
  if (context.json) {
    Json document{{"verified", signature.ok()}};
    if (signature.ok()) {
      document.update(signature_json(signature.value()));
    } else {
      document["reason"] = signature.status().message();
    }
    context.print_json(document);
  } else if (signature.ok()) {
    context.print(fmt::format("{}: {}, {}\n  key {}\n", one_line(options.bundle),
                              context.styled("verified", Style::kGreen), files_text(signature.value()),
                              signature.value().key));
  } else {
    context.print(fmt::format("{}: {}\n", one_line(options.bundle), context.styled("not verified", Style::kRed)));
    for (const std::string& line : wrap(one_line(signature.status().message()), kWidth)) {
      context.print(fmt::format("  {}\n", line));
    }
  }
  return signature.ok() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_keygen(CLI::App& app, Context& context) {
  const auto options = std::make_shared<KeygenOptions>();
  CLI::App& command = add_command(
      app, context,
      {.name = "keygen", .summary = "Create a key pair for signing bundles", .examples = "  leapp keygen release"},
      [options, &context] { return keygen(*options, context); });
  command.add_option("name", options->name, "Writes NAME.private.pem and NAME.public.pem")->required();
}

void add_sign(CLI::App& app, Context& context) {
  const auto options = std::make_shared<SignCommand>();
  CLI::App& command = add_command(app, context,
                                  {.name = "sign",
                                   .summary = "Sign a bundle: write a signed manifest of its files",
                                   .examples = "  leapp sign walk --key release.private.pem\n"
                                               "  leapp sign walk --key release.private.pem --serial 12"},
                                  [options, &context] { return sign(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("--key", options->key, "Ed25519 private key (PEM); see leapp keygen")->required();
  command.add_option("--serial", options->serial, "Release number; robots can refuse lower ones (0)");
}

void add_verify(CLI::App& app, Context& context) {
  const auto options = std::make_shared<VerifyCommand>();
  CLI::App& command = add_command(app, context,
                                  {.name = "verify",
                                   .summary = "Verify the signature of a bundle (exit code 1 if bad)",
                                   .examples = "  leapp verify walk --key release.public.pem\n"
                                               "  leapp verify walk --key ours.public.pem --key theirs.public.pem"},
                                  [options, &context] { return verify(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("--key", options->keys, "Public key (PEM); repeat to accept several keys")
      ->required()
      ->allow_extra_args(false);
  command.add_option("--minimum-serial", options->minimum_serial, "Refuse bundles with a lower serial (0)");
}

}  // namespace leapp::cli
