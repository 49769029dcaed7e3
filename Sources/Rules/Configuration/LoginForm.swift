import Bytes
import Model

/// `form` in a `challenge`: how a login page is told from what was asked for, and what is sent to get past it.
public final class LoginForm: Sendable, Equatable {
    /// A response that holds a login page. What is not said does not matter.
    public struct Sign: Sendable, Equatable {
        public let status: Int?
        /// Of the `Location` field.
        public let location: TextPattern?
        /// In the page, after its content is decoded.
        public let text: String?
    }

    /// Alternatives; never empty.
    public let signs: [Sign]
    /// Sent from the page, with its own hidden fields; its action is a path, or a URL of the same host.
    public let login: LoginTemplate

    public init(signs: [Sign], login: LoginTemplate) {
        self.signs = signs
        self.login = login
    }

    public static func == (left: LoginForm, right: LoginForm) -> Bool {
        left === right || left.signs == right.signs && left.login == right.login
    }
}

/// Telling a login page from what was asked for.
extension LoginForm {
    /// The verdict on a response's head.
    public enum Recognition: Sendable, Equatable {
        case recognised
        /// It is one if its page holds a text of `texts(status:…)`.
        case dependsOnText
        case other
    }

    /// Whether a page has to be read for some sign.
    public var readsPages: Bool { signs.contains { $0.text != nil } }

    /// - Parameters:
    ///   - locations: the value of `Location`, as it came, and as its path if it leads to the same server; empty without one.
    public func recognise(status: Int, locations: [[UInt8]]) -> Recognition {
        var recognition = Recognition.other
        for sign in signs where sign.fits(status, locations) {
            if sign.text == nil { return .recognised }
            recognition = .dependsOnText
        }
        return recognition
    }

    /// Whether the page holds the text of a sign that the head fits.
    ///
    /// - Parameter start: behind what was looked at before.
    public func holds(
        _ page: Span<UInt8>, from start: Int, status: Int, locations: [[UInt8]]
    ) -> Bool {
        for sign in signs where sign.fits(status, locations) {
            guard let text = sign.text else { continue }
            if page.holds(text.utf8Span.span, from: start - text.utf8.count) { return true }
        }
        return false
    }
}

extension LoginForm.Sign {
    fileprivate func fits(_ status: Int, _ locations: [[UInt8]]) -> Bool {
        if let own = self.status, own != status { return false }
        guard let pattern = self.location else { return true }
        return locations.contains { pattern.matches($0.span) }
    }
}

extension Span<UInt8> {
    fileprivate func holds(_ text: Span<UInt8>, from start: Int) -> Bool {
        guard text.count > 0 else { return true }
        var search = firstIndex(of: text[0], from: Swift.max(0, start))
        while let found = search, found + text.count <= count {
            if extracting(found..<found + text.count).equals(text) { return true }
            search = firstIndex(of: text[0], from: found + 1)
        }
        return false
    }
}
