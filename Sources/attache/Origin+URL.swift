import Authentication
import Bytes
import Rules

extension Origin {
    /// The server of a URL, whatever its path.
    init(url: String, isProxy: Bool) throws(ExplanationError) {
        guard let start = url.firstRange(of: "://")?.upperBound else {
            throw ExplanationError("'\(Console.printable(url))' is no whole URL, such as http://www.example.com/")
        }
        if url[start...].prefix(while: { $0 != "/" && $0 != "?" }).contains("@") {
            throw ExplanationError("the URL has a user in it: USER stands behind it, and the password is asked for")
        }
        let request = try ExplainedRequest(
            method: "GET", url: url, client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil))
        let kind: NetworkProtocol =
            switch request.protocol {
            case .http: .http
            case .https: .https
            case .ftp: .ftp
            case .socks: .socks
            }
        self.init(host: request.host, port: request.port, protocol: kind, isProxy: isProxy)
    }
}
