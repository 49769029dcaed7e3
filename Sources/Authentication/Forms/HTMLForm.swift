/// A form of a page, with what it would send as it stands (WHATWG HTML section 4.10.21.4).
public struct HTMLForm: Sendable, Equatable {
    public struct Entry: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    /// As the page says it, resolved against its `base`; nil: the page's own address.
    public internal(set) var action: String?
    /// The names and values of all controls but buttons that are successful when nobody touches them, then the one of the
    /// first button.
    public internal(set) var entries: [Entry] = []
    /// The names of its password fields.
    public internal(set) var passwordNames: [String] = []
    /// How its values are to be sent.
    var charset = HTMLCharset.utf8
    /// Whether as `multipart/form-data`.
    var isMultipart = false

    /// Whether it asks for a value of that name.
    func asks(for name: String) -> Bool {
        passwordNames.contains(name) || entries.contains { $0.name == name }
    }
}
