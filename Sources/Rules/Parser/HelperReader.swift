import Bytes
import Model

/// Reads the programs that give a credential, or a value of it.
struct HelperReader: BlockReader {
    let context: ReadingContext

    private static let mostVariables = 64

    /// Parses `helper KIND COMMAND …`.
    func helper(_ block: CredentialBlock) -> HelperSource? {
        guard let directive = block.directive(.helper), let first = directive.values.first,
            let kind = parse.keyword(first, HelperSource.Kind.self)
        else { return nil }
        let words = directive.values.dropFirst()
        guard let program = words.first else {
            log.report(at: directive.range, "'helper \(kind.rawValue)' needs a command")
            return nil
        }
        if kind == .aws, block.directive(.aws) == nil {
            log.report(
                at: directive.range,
                "'helper aws' gives keys that sign requests: add 'aws' with a region and a service, such as aws eu-central-1 s3"
            )
            return nil
        }
        if block.directive(.registry) != nil, ![.plain, .git, .docker].contains(kind) {
            refuse(first, "the login of a registry comes from 'helper docker', 'git' or 'plain'")
            return nil
        }
        if program.text.hasPrefix(CommandSource.socketPrefix) {
            if let extra = words.dropFirst().first { refuse(extra, "nothing can follow the path of a socket") }
            let path = program.without(prefix: CommandSource.socketPrefix)
            return HelperSource(kind, CommandSource([CommandSource.socketPrefix + parse.path(path)]))
        }
        guard parse.isProgram(program.text, at: program.range, isSecret: program.isSecret) else { return nil }
        if let wrong = words.first(where: { $0.text.utf8.contains(0) }) {
            refuse(wrong, "an argument cannot contain a NUL")
            return nil
        }
        return HelperSource(kind, CommandSource(words.map(\.text)))
    }

    /// Parses `environment` and `keep`; nil if they are wrong, which was reported.
    ///
    /// - Parameter source: the credential, which needs a program for them.
    func settings(_ block: CredentialBlock, of source: CredentialSource) -> CommandSource.Settings? {
        var settings = CommandSource.Settings()
        let said = block.said([.environment, .keep, .path])
        if let first = said.first, source.commands.isEmpty {
            let word = first.name.rawValue
            log.report(at: first.node.name.range, "'\(word)' is for a credential with 'helper' or 'run'")
            return nil
        }
        for directive in said {
            switch directive.name {
            case .keep:
                guard let value = directive.values.first, let time = parse.duration(value) else { return nil }
                settings.keep = time
            case .path:
                guard let value = directive.values.first, let isYes = parse.yesOrNo(value) else { return nil }
                if let kind = source.helper?.kind, ![.git, .bazel].contains(kind) {
                    log.report(at: directive.range, "'path' is for 'helper git' and 'helper bazel'")
                    return nil
                }
                settings.asksForPath = isYes
            default:
                for value in directive.values {
                    guard isVariable(value.text) else {
                        refuse(value, "\(value.shown) is not the name of a variable")
                        return nil
                    }
                    settings.environment.append(value.text)
                }
            }
        }
        if settings.environment.count > Self.mostVariables, let range = said.first?.range {
            log.report(at: range, "no more than \(Self.mostVariables) variables")
            return nil
        }
        return settings
    }

    private func isVariable(_ name: String) -> Bool {
        let isWord = name.utf8.allSatisfy {
            $0.isDigit || $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0.asciiLowercased)
        }
        return isWord && name.utf8.first.map { !$0.isDigit } ?? false
    }
}
