import Bytes
import Crypto
import IO
import Model

/// The settings of all programs that give secrets.
public struct CommandTerms: Sendable {
    /// The directory that a program finds in `HOME`.
    public let home: String
    /// The time of one run.
    public let time: Milliseconds

    public init(home: String? = nil, time: Milliseconds = .seconds(10)) {
        self.home = home ?? "/"
        self.time = time
    }
}

/// Runs programs that give secrets. Blocks: do not call it on a loop.
struct CommandRunner: Sendable {
    let terms: CommandTerms
    /// The process's environment.
    let environment: [String: String]
    let settings: [ExactText: CommandSource.Settings]

    /// The output of a program, which nothing else has seen.
    ///
    /// - Parameters:
    ///   - action: the last argument, such as `get`; nil: none.
    ///   - more: variables besides those of the credential.
    func output(
        of command: CommandSource, _ action: String? = nil, input: [UInt8] = [], for credential: String,
        more: [String] = []
    ) throws(CredentialError) -> [UInt8] {
        do throws(HelperProgram.Failure) {
            let limits = HelperProgram.Limits(time: terms.time.duration)
            let output: [UInt8]
            if let path = command.socket {
                output = try HelperSocket(path).ask(input, within: limits)
            } else {
                let words = command.words + (action.map { [$0] } ?? [])
                output = try HelperProgram(words, environment: variables(for: credential) + more)
                    .run(input: input, within: limits)
            }
            HelperRuns.all.count(.success)
            return output
        } catch {
            HelperRuns.all.count(HelperRuns.Result(error))
            throw .helper(credential: credential, program: command.program, .run(error))
        }
    }

    /// The reason why the program cannot be started; nil: it can.
    func problem(of command: CommandSource, for credential: String) -> CredentialError? {
        do throws(HelperProgram.Failure) {
            if let path = command.socket {
                _ = try HelperSocket(path)
            } else {
                _ = try HelperProgram(command.words, environment: [])
            }
            return nil
        } catch { return .helper(credential: credential, program: command.program, .run(error)) }
    }

    private func variables(for credential: String) -> [String] {
        var variables = [
            "PATH": HelperProgram.directories.joined(separator: ":"), "LANG": "C.UTF-8", "HOME": terms.home,
        ]
        for name in settings[ExactText(credential)]?.environment ?? [] {
            if let value = environment[name] { variables[name] = value }
        }
        return variables.map { "\($0)=\($1)" }.sorted()
    }

    /// The first line of a program's output.
    func firstLine(of command: CommandSource, for credential: String) throws(CredentialError) -> [UInt8] {
        var output = try output(of: command, for: credential)
        defer { _ = Secret(wiping: &output) }
        do throws(HelperOutput.Fault) {
            let line = try HelperOutput.lines(output, count: nil).first ?? []
            guard !line.isEmpty else { throw .nothing }
            return Array(line)
        } catch { throw .helper(credential: credential, program: command.program, .output(error)) }
    }
}
