import Bytes
import Crypto
import FTP
import HTTP
import IO
import Model
import TLS
import Upstream

/// One request to an FTP server, on a thread of its own: read as HTTP, carried out as FTP, answered as HTTP.
struct GatewayVisit: Sendable {
    /// Over which the proxy's loop asks.
    public let client: BlockingSocket
    public let server: FTPServer
    public let trust: GatewayTrust
    public let outcome: GatewayOutcome
    public let policy: Policy
    /// Of the versions of TLS.
    public let minimum: TLSVersion
    let requiresTLS: Bool

    /// FTP has no realms: who is logged in, is so everywhere.
    public static let realm = "FTP"

    public func run() {
        let request = GatewayRequest(from: client, limits: policy.limits.request)
        guard request.readHead() else { return }
        if request.head.method == .put, let refusal = GatewayUpload.refusal(of: request) {
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
        do throws(FTPError) {
            let opened = try FTPSession(
                with: server, as: login, within: (policy.timeouts.connect, policy.timeouts.idle),
                security: FTPSecurity(minimum: minimum, isRequired: requiresTLS) { handshakes.govern($0) },
                isWanted: { [client] in !client.hasPeerEnded })
            session = opened
            if request.head.method == .put {
                try GatewayUpload(request: request, answer: answer, session: opened).run()
            } else {
                try GatewayDownload(request: request, answer: answer, session: opened).run()
            }
        } catch {
            conclude(answer, to: request, after: error, distrust)
        }
        // The session's end says QUIT, for which the server may take its time.
        withExtendedLifetime(session) { client.shutdownWrite() }
    }

    private func conclude(
        _ answer: GatewayAnswer, to request: GatewayRequest, after error: FTPError, _ distrust: Refusal?
    ) {
        // Half a response that ends here is known to be half of one.
        if answer.hasBegun { return }
        switch error {
        case _ where distrust != nil: outcome.refusal = distrust
        case .loginRefused(let reply): answer.challenge("the FTP server refused the login: \(reply)")
        case .loginFailed(let reply): answer.fail(reply)
        case .refused(let reply): answer.refuse(reply, isUpload: request.head.method == .put)
        default: outcome.refusal = Refusal(error, of: server)
        }
    }
}
