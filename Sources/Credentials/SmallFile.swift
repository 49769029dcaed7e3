import Glibc

/// Reads small files whole. Blocks.
enum SmallFile {
    static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw lastError() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        defer { for index in piece.indices { piece[index] = 0 } }
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw lastError()
            }
            guard bytes.count + count <= limit else { throw .tooLarge }
            bytes += piece[..<count]
        }
    }

    private static func lastError() -> FileError {
        let code = errno
        return .system(unsafe String(cString: strerror(code)).lowercased())
    }
}
