import Foundation

/// The result of a program that ran to its end.
struct Finished: CustomStringConvertible {
    let command: String
    let status: Int32
    let output: String
    let errorOutput: String

    var description: String { "\(command)\nexit \(status)\n\(output.suffix(2_000))\n\(errorOutput.suffix(2_000))" }
    var succeeded: Bool { status == 0 }

    /// Runs a program in a clean environment; one that takes longer is killed with all its children (status 137). The time
    /// is for a program that hangs: on a machine with much else to do, a provisioned domain took more than a minute.
    static func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String = Scratch.root,
        input: String = "/dev/null", seconds: Double = 300
    ) throws -> Finished {
        let child = try Subprocess(name, arguments, environment: environment, directory: directory, input: input)
        let status = child.wait(seconds: seconds) ?? child.kill()
        return Finished(
            command: ([name] + arguments).joined(separator: " "), status: status, output: child.output,
            errorOutput: child.errorOutput)
    }
}
