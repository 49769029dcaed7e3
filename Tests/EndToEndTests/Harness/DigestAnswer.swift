import Foundation

/// A client's answer to a Digest challenge of the proxy's, made by hand, so that it can be made wrong.
struct DigestAnswer {
    private let parameters: [String: String]
    private let algorithm: String

    /// - Parameter challenge: the value of one `Proxy-Authenticate` line.
    init(to challenge: String) {
        var parameters: [String: String] = [:]
        for match in challenge.dropFirst("Digest ".count).matches(of: /([a-z]+)=(?:"([^"]*)"|([^ ,]+))/) {
            parameters[String(match.1)] = String(match.2 ?? match.3 ?? "")
        }
        self.parameters = parameters
        algorithm = parameters["algorithm"] == "SHA-256" ? "sha256" : "md5"
    }

    var nonce: String { parameters["nonce"] ?? "" }
    var isStale: Bool { parameters["stale"] == "true" }

    /// The value of `Proxy-Authorization`.
    /// - Parameters:
    ///   - target: what is answered for, as `uri`.
    ///   - nonce: another than the challenge's.
    func value(
        _ user: String, password: String = Account.clientPassword, method: String = "GET", target: String,
        count: Int = 1, nonce: String? = nil
    ) throws -> String {
        let nonce = nonce ?? self.nonce
        let number = String(format: "%08x", count)
        let key = try Hash.hex(algorithm, "\(user):\(parameters["realm"] ?? ""):\(password)")
        let request = try Hash.hex(algorithm, "\(method):\(target)")
        let response = try Hash.hex(algorithm, "\(key):\(nonce):\(number):c:auth:\(request)")
        return """
            Digest username="\(user)", realm="\(parameters["realm"] ?? "")", nonce="\(nonce)", uri="\(target)", \
            algorithm=\(parameters["algorithm"] ?? "MD5"), qop=auth, nc=\(number), cnonce="c", response="\(response)"
            """
    }

    /// The value of `Proxy-Authentication-Info` that proves the proxy to the client.
    func proof(_ user: String, target: String, count: Int = 1) throws -> String {
        let number = String(format: "%08x", count)
        let key = try Hash.hex(algorithm, "\(user):\(parameters["realm"] ?? ""):\(Account.clientPassword)")
        let proof = try Hash.hex(
            algorithm, "\(key):\(nonce):\(number):c:auth:\(try Hash.hex(algorithm, ":\(target)"))")
        return "rspauth=\"\(proof)\", qop=auth, cnonce=\"c\", nc=\(number)"
    }
}
