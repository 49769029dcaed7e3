import Bytes
import Crypto
import FTP
import HTTP
import IO
import Model
import TLS
import Upstream

/// One request to an FTP server, on a thread of its own: read as HTTP, performed as FTP, answered as HTTP.
struct GatewayVisit: Sendable {
    /// The socket to the proxy's loop.
    let client: BlockingSocket
    let server: FTPServer
    let trust: GatewayTrust
    let outcome: OriginConnection.GatewayOutcome
    let policy: Policy
    /// The versions of TLS that may be spoken.
    let versions: ClosedRange<TLSVersion>
    let requiresTLS: Bool

    /// The realm for all servers. FTP has no realms: a login is valid on the whole server.
    static let realm = "FTP"

    func run() {
        let request = GatewayRequest(from: client, limits: policy.limits.request)
        guard request.readHead() else { return }
        if request.head.method == .put, let refusal = Upload.refusal(of: request) {
            outcome.refusal = refusal
            return
        }
        let answer = GatewayAnswer(to: client, isHead: request.head.method == .head)
        guard let login = request.login else {
            return answer.challenge(
                "the FTP server asks for a login: write a credential and a 'challenge' for it, or put user and password in the URL"
            )
        }
        var distrust: Refusal?
        let handshakes = ForeignHandshakes { chain in
            distrust = trust.refusal(of: chain)
            return distrust == nil
        }
        var session: FTPSession?
        do throws(FTPSession.Failure) {
            let opened = try FTPSession(
                with: server, as: login, within: (policy.timeouts.connect, policy.timeouts.idle),
                security: FTPServer.Security(versions: versions, isRequired: requiresTLS) { handshakes.govern($0) },
                isWanted: { [client] in !client.hasPeerEnded })
            session = opened
            if request.head.method == .put {
                try Upload(request: request, answer: answer, session: opened).run()
            } else {
                try Download(request: request, answer: answer, session: opened).run()
            }
        } catch {
            conclude(answer, to: request, after: error, distrust)
        }
        // The session's end sends QUIT, and the server may take its time.
        withExtendedLifetime(session) { client.shutdownWrite() }
    }

    private func conclude(
        _ answer: GatewayAnswer, to request: GatewayRequest, after error: FTPSession.Failure, _ distrust: Refusal?
    ) {
        // The client can tell that a response which ends here is incomplete.
        if answer.hasBegun { return }
        switch error {
        case _ where distrust != nil: outcome.refusal = distrust
        case .loginRefused(let reply): answer.challenge("the FTP server refused the login: \(reply)")
        case .loginFailed(let reply):
            answer.report(reply, as: (400..<500).contains(reply.code) ? .serviceUnavailable : .badGateway)
        case .refused(let reply): answer.report(reply, as: Status(reply, isUpload: request.head.method == .put))
        default: outcome.refusal = Refusal(error, of: server)
        }
    }
}

extension Status {
    /// The HTTP status for a refusal of an FTP server (RFC 959 section 4.2.2).
    fileprivate init(_ reply: FTPSession.Reply, isUpload: Bool) {
        let text = reply.text.lowercased()
        let isForbidden = isUpload || text.contains("permission") || text.contains("denied")
        switch reply.code {
        case 550: self = isForbidden ? .forbidden : .notFound
        case 532, 551, 553: self = .forbidden
        case 452, 552: self = .insufficientStorage
        case 421, 450: self = .serviceUnavailable
        default: self = .badGateway
        }
    }
}

extension Refusal {
    /// The client's answer if an FTP server gave no response; nil if the client is gone.
    fileprivate init?(_ error: FTPSession.Failure, of server: FTPServer) {
        let peer = "\(server.host) port \(server.port)"
        switch error {
        case .unavailable(let sentence):
            self.init(.notImplemented, .proxyConfigurationError, "ftp URLs are not served here: \(sentence)")
        case .unspeakable:
            self.init(.badRequest, .httpRequestError, "this path is not possible for FTP")
        case .unreachable: self.init(.badGateway, .connectionRefused, "\(peer) did not accept a connection for ftp")
        case .timedOut: self.init(.gatewayTimeout, .connectionTimeout, "\(peer) did not answer by ftp in time")
        case .notSecured:
            self.init(.badGateway, .tlsProtocolError, "\(peer) offers no TLS, but its route requires it (upgrade)")
        case .insecure(let text):
            self.init(.badGateway, .tlsProtocolError, "TLS with \(peer) failed (\(text))")
        case .broken(let text): self.init(.badGateway, .connectionTerminated, "ftp with \(peer) failed (\(text))")
        case .loginRefused, .loginFailed, .refused, .cancelled: return nil
        }
    }
}
