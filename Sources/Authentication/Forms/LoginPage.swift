/// A response in the course of a login, as far as the login looks at it.
public struct LoginPage: Sendable {
    public let status: Int
    /// The value of `Location`.
    public let location: [UInt8]?
    /// The values of `Set-Cookie`, in their order.
    public let cookies: [[UInt8]]
    public let contentType: String?
    /// The content, decoded, as far as it was read; nil for what is no page.
    public let content: [UInt8]?
    /// Whether the rule takes it for what asks for the login.
    public let isRecognised: Bool

    public init(
        status: Int, location: [UInt8]?, cookies: [[UInt8]], contentType: String?, content: [UInt8]?,
        isRecognised: Bool
    ) {
        self.status = status
        self.location = location
        self.cookies = cookies
        self.contentType = contentType
        self.content = content
        self.isRecognised = isRecognised
    }

    /// Whether it says that a form is nothing that it reads: status 415, or 422 with a JSON object that has a `detail`, as
    /// FastAPI makes it of content that is no JSON.
    var wantsJSON: Bool {
        if status == 415 { return true }
        guard status == 422, let type = contentType?.lowercased(), type.hasPrefix("application/json"), let content
        else {
            return false
        }
        return String(decoding: content.prefix(4096), as: UTF8.self).contains("\"detail\"")
    }

    var isRedirect: Bool { location != nil && [301, 302, 303, 307, 308].contains(status) }

    /// Whether a form that is sent there is to be sent again where it leads (RFC 9110 section 15.4.8).
    var repeatsMethod: Bool { status == 307 || status == 308 }
}
