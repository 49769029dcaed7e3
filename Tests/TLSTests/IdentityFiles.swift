import Crypto
import Foundation

@testable import TLS

/// A root, an intermediate and a leaf that `openssl` made, and the leaf's key in every form that a file may have.
struct IdentityFiles {
    private let contents: [String: [UInt8]]

    static let shared = Result { try IdentityFiles() }

    private init() throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run(Self.script)
        contents = try command.all()
    }

    struct Missing: Error {
        let name: String
    }

    func bytes(_ name: String) throws -> [UInt8] {
        guard let bytes = contents[name] else { throw Missing(name: name) }
        return bytes
    }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    private func source(_ name: String) throws -> Identity.Material {
        var bytes = try bytes(name)
        return .content(Secret(wiping: &bytes))
    }

    func identity(_ certificate: String, _ key: String? = nil, passphrase: String? = nil) throws -> Identity {
        try Identity(
            certificate: source(certificate), key: key.map { try source($0) }, passphrase: passphrase.map { Secret($0) }
        )
    }

    private static let script = """
        new() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $1.key 2>/dev/null; }
        new root; new middle; new leaf; new other
        openssl req -x509 -new -key root.key -subj /CN=root -days 30 -out root.pem
        printf 'basicConstraints=critical,CA:true\\n' > ca.ext
        openssl req -new -key middle.key -subj /CN=middle -out middle.csr
        openssl x509 -req -in middle.csr -CA root.pem -CAkey root.key -days 30 -extfile ca.ext -set_serial 2 \
            -out middle.pem 2>/dev/null
        openssl req -new -key leaf.key -subj /CN=leaf -out leaf.csr
        openssl x509 -req -in leaf.csr -CA middle.pem -CAkey middle.key -days 30 -set_serial 3 -out leaf.pem 2>/dev/null
        openssl req -x509 -new -key other.key -subj /CN=other -days 30 -out other.pem
        openssl ec -in leaf.key -out ec.key 2>/dev/null
        openssl ecparam -name prime256v1 > parameters.key; cat ec.key >> parameters.key
        openssl pkcs8 -topk8 -in leaf.key -passout pass:sesame -out encrypted.key
        openssl pkcs8 -topk8 -in leaf.key -passout pass:sesame -v1 PBE-SHA1-3DES -out triple-des.key
        openssl pkcs8 -topk8 -in leaf.key -passout pass:sesame -v1 PBE-SHA1-RC2-40 -provider legacy \
            -provider default -out rc2.key
        openssl ec -in leaf.key -aes128 -passout pass:sesame -out traditional.key 2>/dev/null
        cat root.pem middle.pem leaf.pem > mixed.pem
        cat leaf.pem middle.pem leaf.key > all.pem
        set -- -inkey leaf.key -in leaf.pem -certfile mixed.pem -passout pass:sesame
        openssl pkcs12 -export "$@" -out modern.p12
        openssl pkcs12 -export "$@" -legacy -out legacy.p12
        openssl pkcs12 -export "$@" -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1 -out triple-des.p12
        openssl pkcs12 -export "$@" -nomac -out nomac.p12
        openssl base64 -A -in modern.p12 -out line.p12
        openssl base64 -in modern.p12 -out lines.p12
        openssl base64 -in nomac.p12 | sed 's/$/\\r/' > windows.p12
        openssl x509 -in leaf.pem -outform DER -out leaf.cer
        openssl pkcs12 -export -inkey leaf.key -in leaf.pem -passout pass: -nomac -out open-nomac.p12
        openssl pkcs12 -export -inkey leaf.key -in leaf.pem -passout pass: -out open.p12
        openssl pkcs12 -export -nokeys -in leaf.pem -passout pass: -out keyless.p12
        openssl req -x509 -newkey rsa:2048 -noenc -keyout rsa.key -subj /CN=rsa -days 30 -out rsa.pem 2>/dev/null
        openssl rsa -traditional -in rsa.key -out traditional-rsa.key 2>/dev/null
        """
}
