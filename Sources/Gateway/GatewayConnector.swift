import Challenges
import FTP
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport
import Upstream

/// Connects an exchange with an ftp origin to a thread that speaks FTP. The exchange gets a connection with HTTP, as to
/// any origin, so challenges, bodies and time limits need no special code.
public enum GatewayConnector {
    /// The threads for FTP's transfers, which block. They start when they are needed.
    private static let threads = GatewayThreads(limit: 64)

    /// - Parameters:
    ///   - client: the client as rules see it.
    ///   - parent: the parent on the way to the server; nil: directly.
    ///   - trace: the trace of the request; nil if none.
    /// - Throws: the refusal for the client.
    public static func connect(
        _ downstream: Downstream, to destination: Destination, through parent: Parent?, by policy: Policy,
        as client: ClientIdentity, in trace: RequestTrace?
    ) async throws(Refusal) -> OriginConnection {
        let origin = destination.origin
        if let parent {
            throw Refusal(
                .notImplemented, .httpRequestDenied,
                "ftp does not work through the parent \(parent.label)"
                    + (destination.route.upgrade == nil ? "" : " with TLS, which the route requires (upgrade)"))
        }
        let addresses = try await downstream.dialer(for: policy, in: trace)
            .permittedAddresses(of: origin.hostText, origin.port)
        let tls = destination.route.tls
        let trust = GatewayTrust(
            policy: policy,
            delegate: RuleDelegate(policy: policy.challenges, state: downstream.shared.challenges, client: client),
            origin: origin.authority, tls: tls, lists: try policy.revocationLists(for: tls, of: origin.hostText))
        guard let (near, far) = try? BlockingSocket.pair(on: downstream.loop) else {
            throw Refusal(.serviceUnavailable, .connectionLimitReached, "this proxy has no connection left; try again")
        }
        let outcome = OriginConnection.GatewayOutcome()
        let visit = GatewayVisit(
            client: far, server: FTPServer(host: origin.hostText, port: origin.port, addresses: addresses),
            trust: trust, outcome: outcome, policy: policy,
            versions: tls?.versions ?? Configuration.TLSTerms.defaultVersions,
            requiresTLS: destination.route.upgrade != nil)
        do throws(GatewayThreads.Shortage) {
            try threads.run(for: downstream.address) { visit.run() }
        } catch {
            near.close()
            throw refusal(for: error)
        }
        let stream = ByteStream(near)
        stream.wakeup = downstream.wakeup
        return OriginConnection(stream: stream, to: origin, under: .plain, kind: .gateway(outcome))
    }

    private static func refusal(for shortage: GatewayThreads.Shortage) -> Refusal {
        let share =
            switch shortage {
            case .all: "that many are under way"
            case .address: "your address has its share of them under way"
            }
        return Refusal(
            .serviceUnavailable, .connectionLimitReached,
            "this proxy carries \(threads.limit) ftp transfers at once, and \(share); try again")
    }
}
