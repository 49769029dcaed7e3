import Bytes
import COpenSSL
import Glibc

/// The roots that a chain may end in. Created once and shared: evaluations on every thread read one store.
///
/// Each of them is trusted as it is, whether it is a root, an intermediate or a server's own certificate (RFC 5280
/// section 6.1.1 (d) asks for a name and a key, not for a root).
public final class TrustAnchors: Sendable {
    private let object: LibraryObject
    /// The roots that were passed in, without the system's.
    public let certificates: [Certificate]
    /// The system's roots, decoded when they are needed.
    private let index: Index

    /// Creates a set of only these roots.
    public convenience init(only certificates: [Certificate]) throws(Failure) {
        try self.init(certificates, Index([]))
    }

    /// A set with these roots as well. The existing ones are shared.
    public func adding(_ more: [Certificate]) throws(Failure) -> TrustAnchors {
        try TrustAnchors(certificates + more, index)
    }

    init(_ certificates: [Certificate], _ index: Index) throws(Failure) {
        guard let store = X509_STORE_new(), let parameters = X509_VERIFY_PARAM_new() else { throw .outOfMemory }
        object = LibraryObject(takingOwnership: store, free: { X509_STORE_free($0) })
        self.certificates = certificates
        self.index = index
        defer { X509_VERIFY_PARAM_free(parameters) }
        X509_VERIFY_PARAM_set_flags(parameters, Self.flags)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER)
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        X509_VERIFY_PARAM_set_depth(parameters, Self.depth)
        guard X509_STORE_set1_param(store, parameters) == 1 else { throw .outOfMemory }
        if index.count > 0, !Index.Lookup.add(index, to: store) { throw .outOfMemory }
        for certificate in certificates {
            // A store with a root of this subject does not ask its index for others.
            let others = index.certificates(named: X509_get_subject_name(certificate.handle))
            for anchor in [certificate] + others {
                guard X509_STORE_add_cert(store, anchor.handle) == 1 else { throw .outOfMemory }
            }
        }
    }

    public var count: Int { certificates.count + index.count }

    public func contains(_ certificate: Certificate) -> Bool {
        certificates.contains { $0 == certificate } || index.contains(certificate)
    }

    /// The roots with a subject, an `X509_NAME`.
    func certificates(named subject: OpaquePointer?) -> [Certificate] {
        certificates.filter { X509_NAME_cmp(X509_get_subject_name($0.handle), subject) == 0 }
            + index.certificates(named: subject)
    }

    /// The roots that may be on a path of a chain: their subject is that of one of its certificates or issuers.
    func certificates(for chain: PresentedChain) -> [Certificate] {
        ([chain.leaf] + chain.others).flatMap { sent in
            certificates(named: X509_get_issuer_name(sent.handle))
                + certificates(named: X509_get_subject_name(sent.handle))
        }
    }

    /// The `X509_STORE`, for this target only.
    var handle: OpaquePointer { object.pointer }

    /// The minimum of 112 bits for keys and signatures: RSA from 2048, elliptic curves from 224, SHA-224 and later.
    static let securityLevel: Int32 = 2
    /// The limit of CAs between a server's certificate and its root.
    static let depth: Int32 = 10

    private static let flags = UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)

    /// The roots of this machine, found as OpenSSL finds them: those of the file `SSL_CERT_FILE` and of the folders
    /// `SSL_CERT_DIR` (separated by colons, files named by hash). For a variable that is not set, the library's default
    /// is used. If neither is set and the defaults are missing, the paths of other distributions are tried. A missing
    /// default is no error but leaves `count` at 0. A path in a variable must be readable. It may be missing only if
    /// other roots are found.
    ///
    /// Reads files, which takes a millisecond or two: do not call it on a loop.
    public static func system(
        environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) throws(Failure) -> TrustAnchors {
        try TrustAnchors([], Index(try systemContents(environment: environment)))
    }

    /// The roots of this machine, in DER.
    public static func systemContents(environment: (String) -> String?) throws(Failure) -> [[UInt8]] {
        let file = environment("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        let folders = environment("SSL_CERT_DIR").flatMap { $0.isEmpty ? nil : $0 }
        var found: [[UInt8]] = []
        var absent: Failure?
        func add(_ source: () throws(Failure) -> [[UInt8]]) throws(Failure) {
            do throws(Failure) {
                found += try source()
            } catch .absent(let path) {
                absent = absent ?? .absent(path: path)
            }
        }
        if let file {
            try add { () throws(Failure) in try certificates(inFile: file) }
        } else if let path = defaultFiles.prefix(folders == nil ? defaultFiles.count : 1).first(where: isReadable) {
            found += (try? certificates(inFile: path)) ?? []
        }
        if let folders {
            for folder in folders.split(separator: ":") {
                try add { () throws(Failure) in try certificates(inFolder: String(folder)) }
            }
        } else if found.isEmpty || file != nil, let folder = X509_get_default_cert_dir() {
            found += (try? certificates(inFolder: String(cString: folder))) ?? []
        }
        if found.isEmpty, let absent { throw absent }
        return found
    }

    /// All certificates of a PEM file, in DER.
    private static func certificates(inFile path: String) throws(Failure) -> [[UInt8]] {
        guard let source = BIO_new_file(path, "r") else {
            let number = errno
            ERR_clear_error()
            throw unreadable(path, number)
        }
        defer { BIO_free(source) }
        do throws(Certificate.Failure) {
            let found = try PEMBlocks.contents(of: source, kinds: kinds, limit: 10_000)
            guard !found.isEmpty else { throw .none }
            return found
        } catch {
            throw .damaged(path: path, error)
        }
    }

    /// The certificates in the files that are named by the hash of a subject. Skips a file without a certificate.
    private static func certificates(inFolder path: String) throws(Failure) -> [[UInt8]] {
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

    private static func unreadable(_ path: String, _ number: Int32) -> Failure {
        number == ENOENT ? .absent(path: path) : .unreadable(path: path, reason: String(cString: strerror(number)))
    }

    /// Whether the name is eight hexadecimal digits, a dot and a number.
    private static func isHashed(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 8, !parts[1].isEmpty else { return false }
        return parts[0].allSatisfy(\.isHexDigit) && parts[1].allSatisfy(\.isNumber)
    }

    private static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    private static let kinds: Set = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    /// The default files: the library's own first; then Debian, Fedora, SUSE, Alpine.
    private static let defaultFiles =
        (X509_get_default_cert_file().map { [String(cString: $0)] } ?? []) + [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
        ]

    /// Whether a client's chain leads to one of these roots (RFC 5280 section 6) through certificates that are valid
    /// for clients. The caller reads the name of the client.
    public func vouch(forClient chain: PresentedChain, at time: WallTime) -> Bool {
        // A hostile client chooses a key whose signatures are costly to verify.
        guard chain.omitted == 0, chain.weakened.isEmpty else { return false }
        var search = PathSearch(chain, anchors: self)
        var omitted: [Certificate] = []
        while let run = PathVerification.Run(chain, anchors: self, without: omitted, at: time) {
            if vouch(run) { return true }
            guard run.error != X509_V_ERR_CERT_REJECTED else { return false }
            guard let next = search.next(after: run.path, without: omitted) else { return false }
            omitted = next
        }
        return false
    }

    private func vouch(_ run: borrowing PathVerification.Run) -> Bool {
        guard let parameters = X509_STORE_CTX_get0_param(run.context) else { return false }
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT)
        X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_CLIENT)
        // An operator named these roots as CAs of clients. Private CAs often lack extensions that RFC 5280 requires,
        // and that section 6 does not check.
        X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_X509_STRICT))
        return X509_verify_cert(run.context) == 1
    }

    /// The reason why there are no roots: the fault of the machine's setup or of a file.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case absent(path: String)
        case unreadable(path: String, reason: String)
        case damaged(path: String, Certificate.Failure)
        case outOfMemory

        public var description: String {
            switch self {
            case .absent(let path): "there are no root certificates: \(path) does not exist; install ca-certificates"
            case .unreadable(let path, let reason): "cannot read the root certificates in \(path): \(reason)"
            case .damaged(let path, let error): "no root certificates in \(path): \(error)"
            case .outOfMemory: "no memory for the root certificates"
            }
        }
    }
}
