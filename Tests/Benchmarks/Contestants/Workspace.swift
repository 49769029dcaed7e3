import Glibc

/// A directory for the files of one run, and what is needed of files without Foundation.
struct Workspace {
    let path: String

    /// Makes an empty directory under `/tmp`.
    init() throws(BenchError) {
        var template = Array("/tmp/attache-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .machine("cannot make a directory in /tmp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() { _ = try? Child.run(["rm", "-rf", path]) }

    func write(_ text: String, to name: String) throws(BenchError) -> String {
        let file = "\(path)/\(name)"
        guard let stream = fopen(file, "w") else { throw .machine("cannot write \(file)") }
        defer { fclose(stream) }
        let bytes = Array(text.utf8)
        guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else { throw .machine("cannot write \(file)") }
        return file
    }

    /// The whole of a small file, or nil.
    static func read(_ file: String) -> [UInt8]? {
        guard let stream = fopen(file, "r") else { return nil }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 16384)
        while case let count = fread(&room, 1, room.count, stream), count > 0 { bytes += room[..<count] }
        return bytes
    }

    static func text(_ file: String) -> String? { read(file).map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the size; nil if the file does not exist.
    static func size(of file: String) -> Int? {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : nil
    }
}
