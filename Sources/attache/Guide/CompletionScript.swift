import Bytes

/// The completions of the program's commands and options. All other words are completed as files.
struct CompletionScript {
    /// A shell that completes command lines.
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
    }

    let commands: [CommandSyntax]

    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private static let everywhere = CommandOption(name: "help", summary: ["show the help"])

    /// The allowed words of the command's first operand.
    private static func actions(of command: CommandSyntax) -> [String] { command.operands.first?.choices ?? [] }

    // MARK: - bash

    private var bash: String {
        var lines = [
            "# Completions of attache for bash.", "_attache() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=",
            "    if [ \"$COMP_CWORD\" = 1 ]; then",
            "        words='\(commands.map(\.name).joined(separator: " ")) --help --version'", "    else",
            "        case \"${COMP_WORDS[1]} $before\" in",
        ]
        for command in commands {
            for option in command.options where option.value != nil {
                let words = option.choices.joined(separator: " ")
                lines.append("        '\(command.name) --\(option.name)') words='\(words)' ;;")
            }
        }
        lines += ["        *)", "            case \"${COMP_WORDS[1]} $current\" in"]
        for command in commands {
            let options = (command.options + [Self.everywhere]).map { "--\($0.name)" }.joined(separator: " ")
            lines.append("            '\(command.name) -'*) words='\(options)' ;;")
            let actions = Self.actions(of: command)
            guard !actions.isEmpty else { continue }
            let words = actions.joined(separator: " ")
            lines.append("            '\(command.name) '*) [ \"$COMP_CWORD\" = 2 ] && words='\(words)' ;;")
        }
        lines += [
            "            esac", "            ;;", "        esac", "    fi",
            "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))", "}", "complete -o default -F _attache attache",
        ]
        return lines.joined(separator: "\n")
    }

    // MARK: - zsh

    private var zsh: String {
        var lines = [
            "#compdef attache", "# Completions of attache for zsh.", "if (( CURRENT == 2 )); then",
            "    local -a names",
        ]
        lines.append("    names=(")
        lines += commands.map { "        \(ShellWord.always("\($0.name):\($0.summary)"))" }
        lines += [
            "    )", "    _describe command names", "    return", "fi", "local name=$words[2]",
            "shift words; (( CURRENT-- ))", "case $name in",
        ]
        for command in commands {
            let options = (command.options + [Self.everywhere]).map { ShellWord.always(Self.zshOption($0)) }
            let operands = command.operands.map { ShellWord.always(Self.zshOperand($0)) }
            lines.append("\(command.name)) _arguments \((options + operands).joined(separator: " ")) ;;")
        }
        return (lines + ["esac"]).joined(separator: "\n")
    }

    private static func zshOption(_ option: CommandOption) -> String {
        let summary = option.summary.joined(separator: " ").replacing("[", with: "(").replacing("]", with: ")")
            .replacing(":", with: "\\:")
        let star = option.isRepeatable ? "*" : ""
        guard let value = option.value else { return "\(star)--\(option.name)[\(summary)]" }
        let name = value.replacing(":", with: " ")
        return "\(star)--\(option.name)=[\(summary)]:\(name):\(zshWords(option.choices))"
    }

    private static func zshOperand(_ operand: CommandOperand) -> String {
        "\(operand.isOptional ? "::" : ":")\(operand.name):\(zshWords(operand.choices))"
    }

    private static func zshWords(_ words: [String]) -> String {
        words.isEmpty ? "_files" : "(\(words.joined(separator: " ")))"
    }

    // MARK: - fish

    private var fish: String {
        var lines = ["# Completions of attache for fish."]
        for command in commands {
            lines.append(
                "complete -c attache -n __fish_use_subcommand -f -a \(command.name) -d \(Self.fishWord(command.summary))"
            )
            let condition = "complete -c attache -n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.options + [Self.everywhere] {
                var line = "\(condition) -l \(option.name) -d \(Self.fishWord(option.summary.joined(separator: " ")))"
                if option.value != nil { line += " -r" }
                if !option.choices.isEmpty { line += " -f -a \(Self.fishWord(option.choices.joined(separator: " ")))" }
                lines.append(line)
            }
            let actions = Self.actions(of: command)
            if !actions.isEmpty { lines.append("\(condition) -a \(Self.fishWord(actions.joined(separator: " ")))") }
        }
        return lines.joined(separator: "\n")
    }

    private static func fishWord(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
