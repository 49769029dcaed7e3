import Authentication
import Bytes
import Credentials
import Crypto
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Upstream

/// Challenges the proxy's own clients (RFC 9110 section 11.7) with the schemes that the rules name, in their order, and
/// finds out by their answers who they are.
final class ClientAuthentication: Sendable {
    typealias Method = Configuration.Clients.Method

    enum Judgement {
        /// It is known who asks, and stands in the record.
        case proved
        case refused(Refusal)
        /// It takes time: ask `check`.
        case undecided
    }

    let accounts: ClientAccounts
    let methods: [Method]
    let realm: String
    private let clients: Configuration.Clients

    /// Nil when nobody is asked.
    init?(_ clients: Configuration.Clients, accounts: ClientAccounts) {
        guard !clients.methods.isEmpty else { return nil }
        methods = clients.methods
        realm = clients.realm
        self.clients = clients
        self.accounts = accounts
    }

    /// Whether the rules let a Kerberos principal use the proxy.
    func admits(principal: String) -> Bool { clients.admits(principal: principal) }

    /// Looks at what the request brings. Does not block, and allocates nothing where the answer is that of the request
    /// before on the same connection.
    func judge(_ exchange: Exchange, of session: ClientSession) -> Judgement {
        let fields = exchange.request.fields
        guard let field = fields.first(.proxyAuthorization) else {
            if methods.contains(.negotiate),
                let user = session.negotiation?.user(at: session.requester.loop.now, by: self)
            {
                note(user, exchange, of: session)
                return .proved
            }
            session.negotiation = nil
            return .refused(challenge("log in to this proxy: \(methods[0].wish)"))
        }
        let head = exchange.headBytes
        let value = head.readable.extracting(field.value)
        if let accepted = session.acceptedAuthorization, accepted.covers(value, by: self),
            !fields.repeated.contains(.proxyAuthorization)
        {
            note(accepted.user, exchange, of: session)
            return .proved
        }
        guard !fields.repeated.contains(.proxyAuthorization) else {
            return .refused(malformed("the request has two Proxy-Authorization fields"))
        }
        guard let (method, credentials) = credentials(in: field, of: exchange) else {
            let offered = methods.map(\.schemeName).joined(separator: " or ")
            return .refused(challenge("the Proxy-Authorization field has no \(offered) credentials"))
        }
        switch method {
        case .basic: return judgeBasic(credentials, exchange, of: session)
        case .digest: return judgeDigest(credentials, exchange, of: session)
        case .bearer: return judgeBearer(credentials, exchange, of: session)
        case .negotiate: return .undecided
        }
    }

    /// Finds out who the client is, and notes it in the record.
    /// - Throws: the answer it gets when it does not say, or says wrong.
    func check(_ exchange: Exchange, of session: ClientSession) async throws(ExchangeFailure) {
        switch judge(exchange, of: session) {
        case .proved: return
        case .refused(let refusal): throw .refused(refusal)
        case .undecided:
            guard let field = exchange.request.fields.first(.proxyAuthorization),
                let (method, credentials) = credentials(in: field, of: exchange)
            else { throw .refused(challenge("log in to this proxy")) }
            if method == .negotiate {
                try await checkNegotiate(credentials, exchange, of: session)
            } else {
                try await checkBasic(credentials, exchange, of: session)
            }
        }
    }

    /// The field's content: the method, if it is offered, and where its credentials stand in the head.
    private func credentials(in field: Field, of exchange: Exchange) -> (method: Method, credentials: Range<Int>)? {
        let head = exchange.headBytes
        let value = head.readable.extracting(field.value)
        guard let method = Method(schemeOf: value), methods.contains(method) else { return nil }
        let start = value.trimmingBlanks(method.schemeName.utf8.count..<value.count).lowerBound
        return (method, field.value.lowerBound + start..<field.value.upperBound)
    }

    /// Notes who it is.
    func note(_ user: String, _ exchange: Exchange, of session: ClientSession) {
        session.requester.isUsed(by: user)
        exchange.record.user = user
    }

    /// Notes who it is, and keeps that in mind for the session's next request.
    func accept(_ user: String, version: Int, in exchange: Exchange, of session: ClientSession) {
        note(user, exchange, of: session)
        guard let field = exchange.request.fields.first(.proxyAuthorization) else { return }
        let head = exchange.headBytes
        session.acceptedAuthorization = AcceptedAuthorization(
            head.readable.extracting(field.value), of: user, by: self, version: version)
    }
}

extension Configuration.Clients.Method {
    /// By the scheme's name at the beginning of the field, in any case, with a blank behind it.
    fileprivate init?(schemeOf value: Span<UInt8>) {
        guard let end = value.firstIndex(of: .space) else { return nil }
        let name = value.extracting(0..<end)
        if name.equalsIgnoringCase("basic") {
            self = .basic
        } else if name.equalsIgnoringCase("digest") {
            self = .digest
        } else if name.equalsIgnoringCase("bearer") {
            self = .bearer
        } else if name.equalsIgnoringCase("negotiate") {
            self = .negotiate
        } else {
            return nil
        }
    }

    var schemeName: String {
        switch self {
        case .basic: "Basic"
        case .digest: "Digest"
        case .negotiate: "Negotiate"
        case .bearer: "Bearer"
        }
    }

    /// Advice to a person.
    fileprivate var wish: String {
        switch self {
        case .basic, .digest: "set a user name and a password"
        case .negotiate: "get a Kerberos ticket, and let the client use it"
        case .bearer: "set a token"
        }
    }
}
