import Challenges
import HTTP
import TLS

/// A response that the proxy makes itself in place of an upstream's: the status, the text for the client and its
/// fields.
public struct Refusal: Error {
    public let status: Status
    public let error: ProxyError
    /// One sentence for the user, without internals and secrets.
    public var sentence: String
    /// The value of `details` in `Proxy-Status`: mostly the sentence.
    public var details: String
    /// The alert with which a TLS peer closed the connection.
    public var alert: TLSAlert?
    /// The reason why an origin was not trusted, for the record.
    public var trust: TrustRefusal?
    /// The question that an operator can answer so that a new connection succeeds; nil if none.
    public var question: OperatorQuestion.Subject?
    /// Further help for the user, in lines of its own.
    public var explanation: String?
    /// Fields of the response, such as a challenge of the proxy.
    public var fields: [(name: StaticString, value: String)] = []
    /// The body: the sentence, then an empty line and the explanation, if there is one.
    public var text: String { explanation.map { "\(sentence)\n\n\($0)\n" } ?? "\(sentence)\n" }
    /// The status with which a parent refused, if it differs from the client's.
    public var receivedStatus: Status?
    /// Whether nothing was sent yet, so that another parent can be tried.
    public var mayGoAnotherWay = false
    /// Whether the client's connection can carry another request after this.
    public var keepsConnection = true

    public init(_ status: Status, _ error: ProxyError, _ sentence: String) {
        self.status = status
        self.error = error
        self.sentence = sentence
        details = sentence
    }

    /// The client's answer to a malformed message. Its end cannot be trusted, so the connection closes after the
    /// answer.
    public init(_ error: HTTPError) {
        status = error.status
        self.error = error.proxyError
        sentence = "\(error)"
        details = sentence
        keepsConnection = error.fault != .client
    }
}

extension Refusal {
    /// The refusal when too many clients want the same kind of slow work.
    /// - Parameter retryAfter: seconds.
    public static func busy(_ sentence: String, retryAfter: Int) -> Refusal {
        var refusal = Refusal(.serviceUnavailable, .connectionLimitReached, "\(sentence); try again")
        refusal.fields = [(name: "Retry-After", value: "\(retryAfter)")]
        return refusal
    }

    public static var lateBody: Refusal {
        var refusal = Refusal(.requestTimeout, .httpRequestError, "the request's body did not arrive in time")
        refusal.keepsConnection = false
        return refusal
    }

    public static var lateHead: Refusal {
        var refusal = Refusal(.requestTimeout, .httpRequestError, "the request's head did not arrive in time")
        refusal.keepsConnection = false
        return refusal
    }
}
