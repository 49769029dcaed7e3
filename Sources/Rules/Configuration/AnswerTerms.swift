/// How a `challenge` uses its credential, where that is out of the ordinary. Immutable and shared.
public final class AnswerTerms: Sendable, Equatable {
    /// `spn`: the Kerberos service to get a ticket for; nil: `HTTP@` and the host.
    public let servicePrincipal: String?
    /// `delegate`: whether the server may act in the credential's name elsewhere.
    public let delegates: Bool
    /// `canonicalise`: whether the host is looked up in the DNS for its service's name.
    public let canonicalises: Bool
    public let form: LoginForm?

    public init(
        servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false, form: LoginForm? = nil
    ) {
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
        self.form = form
    }

    public static func == (left: AnswerTerms, right: AnswerTerms) -> Bool {
        left === right
            || left.servicePrincipal == right.servicePrincipal && left.delegates == right.delegates
                && left.canonicalises == right.canonicalises && left.form == right.form
    }
}
