import COpenSSL
import Glibc

extension TrustAnchors {
    /// The anchors of this machine, found as OpenSSL finds them: those of the file `SSL_CERT_FILE` and of the folders
    /// `SSL_CERT_DIR` (with colons between them, files named by hash), and for a variable that is not set the library's
    /// default; with neither set and no such file, where other distributions keep theirs. What is missing by default is
    /// no error but leaves `count` at 0. What a variable names must be readable, but need not be there if anchors are
    /// found elsewhere.
    ///
    /// Reads files, and takes a millisecond or two: not on a loop.
    public static func system(
        environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) throws(TrustAnchorsError) -> TrustAnchors {
        let file = environment("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        let folders = environment("SSL_CERT_DIR").flatMap { $0.isEmpty ? nil : $0 }
        var found: [[UInt8]] = []
        var absent: TrustAnchorsError?
        func add(_ source: () throws(TrustAnchorsError) -> [[UInt8]]) throws(TrustAnchorsError) {
            do throws(TrustAnchorsError) {
                found += try source()
            } catch .absent(let path) {
                absent = absent ?? .absent(path: path)
            }
        }
        if let file {
            try add { () throws(TrustAnchorsError) in try certificates(inFile: file) }
        } else if let path = defaultFiles.prefix(folders == nil ? defaultFiles.count : 1).first(where: isReadable) {
            found += (try? certificates(inFile: path)) ?? []
        }
        if let folders {
            for folder in folders.split(separator: ":") {
                try add { () throws(TrustAnchorsError) in try certificates(inFolder: String(folder)) }
            }
        } else if found.isEmpty || file != nil, let folder = X509_get_default_cert_dir() {
            found += (try? certificates(inFolder: String(cString: folder))) ?? []
        }
        if found.isEmpty, let absent { throw absent }
        return try TrustAnchors([], AnchorIndex(found))
    }

    /// Every certificate of a PEM file, in DER.
    private static func certificates(inFile path: String) throws(TrustAnchorsError) -> [[UInt8]] {
        guard let source = BIO_new_file(path, "r") else {
            let number = errno
            ERR_clear_error()
            throw unreadable(path, number)
        }
        defer { BIO_free(source) }
        do throws(CertificateError) {
            let found = try PEMBlocks.contents(of: source, kinds: kinds, limit: 10_000)
            guard !found.isEmpty else { throw .none }
            return found
        } catch {
            throw .damaged(path: path, error)
        }
    }

    /// The certificates in the files that bear the hash of a subject; a file that holds none is passed over.
    private static func certificates(inFolder path: String) throws(TrustAnchorsError) -> [[UInt8]] {
        guard let folder = opendir(path) else { throw unreadable(path, errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isHashed(name) { names.append(name) }
        }
        return names.sorted().flatMap { (try? certificates(inFile: "\(path)/\($0)")) ?? [] }
    }

    private static func unreadable(_ path: String, _ number: Int32) -> TrustAnchorsError {
        number == ENOENT ? .absent(path: path) : .unreadable(path: path, reason: String(cString: strerror(number)))
    }

    /// Eight hexadecimal digits, a dot and a number.
    private static func isHashed(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 8, !parts[1].isEmpty else { return false }
        return parts[0].allSatisfy(\.isHexDigit) && parts[1].allSatisfy(\.isNumber)
    }

    private static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    private static let kinds: Set = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    /// The library's own first; then Debian, Fedora, SUSE, Alpine.
    private static let defaultFiles =
        (X509_get_default_cert_file().map { [String(cString: $0)] } ?? []) + [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
        ]
}
