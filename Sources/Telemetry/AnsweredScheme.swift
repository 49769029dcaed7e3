/// The authentication scheme with which the proxy answered a challenge, as the log and the metrics name it.
public enum AnsweredScheme: Int, CaseIterable, Sendable {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case form
    /// AWS Signature Version 4.
    case signature

    public var token: StaticString {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .ntlm: "ntlm"
        case .negotiate: "negotiate"
        case .bearer: "bearer"
        case .form: "html-form"
        case .signature: "aws"
        }
    }
}
