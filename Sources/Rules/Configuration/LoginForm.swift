import Bytes
import Model

extension Configuration {
    /// The `form` of a `challenge`: the signs of a login page, and what is sent to log in.
    public final class LoginForm: Sendable, Equatable {
        /// The signs of a response with a login page. A sign that is nil is not checked.
        public struct Sign: Sendable, Equatable {
            public let status: Int?
            /// The pattern for the value of `Location`; nil matches any.
            public let location: TextPattern?
            /// A text in the page, after its content is decoded; nil if not checked.
            public let text: String?

            fileprivate func fits(_ status: Int, _ locations: [[UInt8]]) -> Bool {
                if let own = self.status, own != status { return false }
                guard let pattern = self.location else { return true }
                return locations.contains { pattern.matches($0.span) }
            }
        }

        /// The alternatives; never empty.
        public let signs: [Sign]
        /// The fields that are sent from the page, with its own hidden fields. Its action is a path, or a URL of the
        /// same host.
        public let login: LoginTemplate

        public init(signs: [Sign], login: LoginTemplate) {
            self.signs = signs
            self.login = login
        }

        public static func == (left: Configuration.LoginForm, right: Configuration.LoginForm) -> Bool {
            left === right || left.signs == right.signs && left.login == right.login
        }

        /// The verdict on a response's head.
        public enum Recognition: Sendable, Equatable {
            case recognised
            /// The response is a login page if it contains a text of `texts(status:…)`.
            case dependsOnText
            case other
        }

        /// Whether some sign requires reading the page.
        public var readsPages: Bool { signs.contains { $0.text != nil } }

        /// - Parameters:
        ///   - locations: the value of `Location` as received, and its path if it leads to the same server; empty if
        ///     absent.
        public func recognise(status: Int, locations: [[UInt8]]) -> Recognition {
            var recognition = Recognition.other
            for sign in signs where sign.fits(status, locations) {
                if sign.text == nil { return .recognised }
                recognition = .dependsOnText
            }
            return recognition
        }

        /// Whether the page contains the text of a sign whose other parts fit the head.
        ///
        /// - Parameter start: the end of the part that was searched before.
        public func holds(_ page: Span<UInt8>, from start: Int, status: Int, locations: [[UInt8]]) -> Bool {
            for sign in signs where sign.fits(status, locations) {
                guard let text = sign.text else { continue }
                if page.holds(text.utf8Span.span, from: start - text.utf8.count) { return true }
            }
            return false
        }
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
