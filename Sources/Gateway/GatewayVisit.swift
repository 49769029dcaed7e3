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
        case .loginFailed(let reply): answer.fail(reply)
        case .refused(let reply): answer.refuse(reply, isUpload: request.head.method == .put)
        default: outcome.refusal = Refusal(error, of: server)
        }
    }
}
