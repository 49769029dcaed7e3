import Bytes
import CCurl
import Crypto
import Model

/// The address of a server. Connections go to these addresses only, even if the server announces others.
public struct FTPServer: Sendable {
    /// The name, or an address without brackets.
    public let host: String
    public let port: UInt16
    public let addresses: [IPAddress]

    public init(host: String, port: UInt16, addresses: [IPAddress]) {
        self.host = host
        self.port = port
        self.addresses = addresses
    }

    var bracketedHost: String { host.utf8.contains(.colon) ? "[\(host)]" : host }

    /// The entry by which libcurl need not resolve the name; nil for an address.
    var resolution: String? {
        guard IPAddress(host) == nil else { return nil }
        let texts = addresses.map { $0.family == .v4 ? "\($0)" : "[\($0)]" }
        return "\(host):\(port):\(texts.joined(separator: ","))"
    }

    /// The credential for USER and PASS (RFC 959 section 4.1.1).
    public struct Login: Sendable {
        let user: [UInt8]
        let password: Secret

        /// Nil if either contains a byte that would end its command.
        public init?(user: [UInt8], password: Secret) {
            let endsNothing = password.withBytes { bytes in
                bytes.indices.allSatisfy { bytes[$0] >= 0x20 && bytes[$0] != 0x7F }
            }
            guard endsNothing, !user.isEmpty, user.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
            self.user = user
            self.password = password
        }
    }

    /// The settings for TLS with a server, if it offers TLS.
    public struct Security {
        /// The accepted versions.
        let versions: ClosedRange<TLSVersion>
        let isRequired: Bool
        let govern: (ForeignTLSContext) -> Void

        /// - Parameters:
        ///   - isRequired: whether a server without TLS gets neither user nor password.
        ///   - govern: makes the context check certificates by our rules.
        public init(versions: ClosedRange<TLSVersion>, isRequired: Bool, govern: @escaping (ForeignTLSContext) -> Void)
        {
            self.versions = versions
            self.isRequired = isRequired
            self.govern = govern
        }

        func configure(_ handle: CurlHandle) {
            // If TLS is offered, it must succeed. Only `govern` judges the certificate.
            handle.set(CURLOPT_USE_SSL, isRequired ? libcurl_ssl_all : libcurl_ssl_try)
            handle.set(CURLOPT_SSL_VERIFYPEER, true)
            handle.set(CURLOPT_SSL_VERIFYHOST, false)
            handle.set(CURLOPT_CAINFO, nil)
            handle.set(CURLOPT_CAPATH, nil)
            handle.set(
                CURLOPT_SSLVERSION, Self.bounds(versions.lowerBound).least | Self.bounds(versions.upperBound).most)
        }

        /// libcurl's numbers for a version as the least and as the highest one.
        private static func bounds(_ version: TLSVersion) -> (least: Int, most: Int) {
            switch version {
            case .v10: (CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_MAX_TLSv1_0)
            case .v11: (CURL_SSLVERSION_TLSv1_1, CURL_SSLVERSION_MAX_TLSv1_1)
            case .v12: (CURL_SSLVERSION_TLSv1_2, CURL_SSLVERSION_MAX_TLSv1_2)
            case .v13: (CURL_SSLVERSION_TLSv1_3, CURL_SSLVERSION_MAX_TLSv1_3)
            }
        }
    }
}
