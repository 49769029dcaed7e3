import Authentication
import Bytes
import HTTP
import Rules
import Upstream

/// The signs in a response's head that it asks for a login.
struct LoginPageHead {
    let status: Int
    let location: [UInt8]?
    /// The values of `Location`: as received, and as a target on the same server.
    private let locations: [[UInt8]]
    /// Whether its content could be a page. A response that is read first does not stream, so only HTML and errors
    /// count.
    let mayBePage: Bool

    init(of upstream: UpstreamConnection, at target: [UInt8], on origin: Origin) {
        let head = upstream.head
        let status = Int(head.status.rawValue)
        self.status = status
        let location = upstream.withHeadBytes { bytes in
            head.fields.first(.location).map { bytes.extracting($0.value).array }
        }
        var locations = location.map { [$0] } ?? []
        if let location, case .here(let path)? = LoginReference(location, from: target, on: origin) {
            locations.append(path)
        }
        self.location = location
        self.locations = locations
        mayBePage =
            head.framing != .none
            && upstream.withHeadBytes { bytes in
                guard let field = head.fields.first(.contentType) else { return status >= 400 }
                let type = bytes.extracting(field.value)
                if Self.begins(type, with: "text/html") || Self.begins(type, with: "application/xhtml+xml") {
                    return true
                }
                return status >= 400 && !Self.begins(type, with: "text/event-stream")
            }
    }

    func recognition(by form: Configuration.LoginForm) -> Configuration.LoginForm.Recognition {
        let recognition = form.recognise(status: status, locations: locations)
        return recognition == .dependsOnText && !mayBePage ? .other : recognition
    }

    func holds(_ page: Span<UInt8>, from start: Int, by form: Configuration.LoginForm) -> Bool {
        form.holds(page, from: start, status: status, locations: locations)
    }

    /// The response in the form that a login reads.
    func page(_ reader: PageReader?, of upstream: UpstreamConnection, as form: Configuration.LoginForm) -> LoginPage {
        let page = reader?.page
        let recognition = recognition(by: form)
        var isRecognised = recognition == .recognised
        var content: [UInt8]?
        if mayBePage, let page {
            if recognition == .dependsOnText { isRecognised = holds(page.readable, from: 0, by: form) }
            content = page.readable.array
        }
        var cookies: [[UInt8]] = []
        upstream.withHeadBytes { bytes in
            for field in upstream.head.fields where field.known == .setCookie {
                cookies.append(bytes.extracting(field.value).array)
            }
        }
        return LoginPage(
            status: status, location: location, cookies: cookies, contentType: upstream.mediaType, content: content,
            isRecognised: isRecognised)
    }

    private static func begins(_ type: Span<UInt8>, with prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return type.count >= length && type.extracting(first: length).equalsIgnoringCase(prefix)
    }
}
