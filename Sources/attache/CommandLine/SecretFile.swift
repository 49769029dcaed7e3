import IO

/// A file with a secret that a command line names; `-` is standard input.
struct SecretFile {
    let path: String
    /// The noun for its content, in error messages.
    let noun: String

    func read(limit: Int) throws(CommandError) -> [UInt8] { try read(limit: limit, withEnd: 0) }

    /// Reads the content without the end of its one line.
    func readLine(limit: Int) throws(CommandError) -> [UInt8] {
        let text = try read(limit: limit, withEnd: 2)
        guard text.last == UInt8(ascii: "\n") else { return text }
        return text.dropLast(text.dropLast().last == UInt8(ascii: "\r") ? 2 : 1)
    }

    private func read(limit: Int, withEnd end: Int) throws(CommandError) -> [UInt8] {
        do throws(FileError) {
            return try isStandardInput
                ? SmallFile.readStandardInput(limit: limit + end) : SmallFile.read(path, limit: limit + end)
        } catch {
            switch error {
            case .tooLarge: throw .failed("\(noun) is longer than \(limit) bytes")
            case .system(let errno):
                throw .failed("cannot read \(noun) from \(name): \(IOError.sentence(for: errno))")
            }
        }
    }

    private var isStandardInput: Bool { path == "-" }

    var name: String { isStandardInput ? "standard input" : path }
}
