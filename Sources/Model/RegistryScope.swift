import Bytes

/// A resource of a registry with actions on it, such as `repository:team/app:pull,push`: the scopes of the CNCF
/// distribution project's token authentication.
public struct RegistryScope: Sendable, Hashable, CustomStringConvertible {
    /// The type, such as `repository` or `repository(plugin)`.
    public let type: String
    public let name: String
    /// The actions, each once and in order; `*` stands for all.
    public let actions: [String]

    /// The limit of bytes of a scope.
    public static let longest = 256

    private init(type: String, name: String, actions: some Sequence<String>) {
        self.type = type
        self.name = name
        self.actions = Set(actions).sorted()
    }

    /// Nil if it is no scope of the distribution project's grammar, or too long.
    ///
    /// - Parameter isPattern: whether `*` may stand for any characters of the name.
    public init?(_ text: some Collection<UInt8>, isPattern: Bool = false) {
        let bytes = Array(text.prefix(Self.longest + 1))
        guard bytes.count <= Self.longest, let first = bytes.firstIndex(of: 0x3A),
            let last = bytes.lastIndex(of: 0x3A), first < last
        else { return nil }
        let (type, name, actions) = (bytes[..<first], bytes[(first + 1)..<last], bytes[(last + 1)...])
        guard Self.isType(type), isPattern ? Self.isPattern(name) : Self.isName(name) else { return nil }
        let list = actions.split(separator: 0x2C, omittingEmptySubsequences: false)
        guard list.allSatisfy(Self.isAction) else { return nil }
        let word = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self) }
        self.init(type: word(type), name: word(name), actions: list.map(word))
    }

    public var description: String { "\(type):\(name):\(actions.joined(separator: ","))" }

    /// Whether both are about one resource.
    func isAbout(_ other: RegistryScope) -> Bool {
        type.utf8.elementsEqual(other.type.utf8) && name.utf8.elementsEqual(other.name.utf8)
    }

    /// A copy with the actions of both.
    func with(_ other: RegistryScope) -> RegistryScope {
        RegistryScope(type: type, name: name, actions: actions + other.actions)
    }

    /// Whether it has all actions of the other one, for the same resource.
    func covers(_ other: RegistryScope) -> Bool {
        isAbout(other) && (actions.contains("*") || other.actions.allSatisfy(actions.contains))
    }

    /// The part that the patterns allow; nil if they allow none of it.
    func within(_ patterns: [RegistryScope]) -> RegistryScope? {
        var allowed: Set<String> = []
        for pattern in patterns where pattern.matches(self) {
            allowed.formUnion(pattern.actions.contains("*") ? actions : actions.filter(pattern.actions.contains))
        }
        return allowed.isEmpty ? nil : RegistryScope(type: type, name: name, actions: allowed)
    }

    /// The part that the other scopes do not have; nil if they have all of it.
    func without(_ others: [RegistryScope]) -> RegistryScope? {
        let known = others.filter(isAbout).flatMap(\.actions)
        let rest = known.contains("*") ? [] : actions.filter { !known.contains($0) }
        return rest.isEmpty ? nil : RegistryScope(type: type, name: name, actions: rest)
    }

    /// Whether the pattern is about the resource.
    private func matches(_ scope: RegistryScope) -> Bool {
        type.utf8.elementsEqual(scope.type.utf8) && scope.name.utf8Span.span.matches(pattern: name.utf8Span.span)
    }

    // MARK: - Grammar

    private static func isWord(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }

    private static func isType(_ type: ArraySlice<UInt8>) -> Bool {
        let parts = type.split(separator: 0x28, maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty, first.allSatisfy(isWord) else { return false }
        guard parts.count > 1 else { return true }
        return parts[1].last == 0x29 && parts[1].count > 1 && parts[1].dropLast().allSatisfy(isWord)
    }

    /// Whether it is `[ hostname "/" ] component *( "/" component )`. Components are lower-case letters and digits,
    /// separated by dots, hyphens and underscores.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        let parts = name.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard let first = parts.first else { return false }
        return (isComponent(first) || parts.count > 1 && isHost(first)) && parts.dropFirst().allSatisfy(isComponent)
    }

    private static func isComponent(_ part: ArraySlice<UInt8>) -> Bool {
        guard let first = part.first, let last = part.last, isWord(first), isWord(last) else { return false }
        var wasDot = false
        for byte in part {
            let isDot = byte == 0x2E
            guard isWord(byte) || isDot && !wasDot || byte == 0x2D || byte == 0x5F else { return false }
            wasDot = isDot
        }
        return true
    }

    private static func isHost(_ part: ArraySlice<UInt8>) -> Bool {
        let pieces = part.split(separator: 0x3A, omittingEmptySubsequences: false)
        guard pieces.count <= 2, let host = pieces.first, isComponent(host) else { return false }
        return pieces.count == 1 || UInt16(String(decoding: pieces[1], as: UTF8.self)) != nil
    }

    private static func isPattern(_ name: ArraySlice<UInt8>) -> Bool {
        !name.isEmpty && name.allSatisfy { isWord($0) || "*/._-:".utf8.contains($0) }
    }

    private static func isAction(_ action: ArraySlice<UInt8>) -> Bool {
        action.elementsEqual([0x2A]) || !action.isEmpty && action.allSatisfy { (0x61...0x7A).contains($0) }
    }
}

/// The scopes of one token of a registry, compared as sets.
public struct RegistryScopes: Sendable, Hashable, CustomStringConvertible {
    /// The resources, each once and in order.
    public let resources: [RegistryScope]

    /// The limit of resources.
    private static let limit = 16

    private init(_ scopes: some Sequence<RegistryScope>) {
        var resources: [RegistryScope] = []
        for scope in scopes {
            if let index = resources.firstIndex(where: scope.isAbout) {
                resources[index] = resources[index].with(scope)
            } else if resources.count < Self.limit {
                resources.append(scope)
            }
        }
        self.resources = resources.sorted { ($0.type, $0.name) < ($1.type, $1.name) }
    }

    /// Reads the value of `scope` in a challenge, or scopes separated by blanks. Others than those of the grammar are
    /// left out, and so are resources beyond the sixteenth.
    public init(_ text: some Collection<UInt8>) {
        let words = text.prefix((RegistryScope.longest + 1) * Self.limit).split(separator: 0x20)
        self.init(words.compactMap { RegistryScope($0) })
    }

    public var isEmpty: Bool { resources.isEmpty }

    /// The scopes as a challenge writes them.
    public var texts: [String] { resources.map { "\($0)" } }

    public var description: String { texts.joined(separator: " ") }

    /// Whether a token for these scopes serves a request for the others.
    public func covers(_ others: RegistryScopes) -> Bool {
        others.resources.allSatisfy { other in resources.contains { $0.covers(other) } }
    }

    /// The part that the patterns allow.
    public func within(_ patterns: [RegistryScope]) -> RegistryScopes {
        RegistryScopes(resources.compactMap { $0.within(patterns) })
    }

    /// The part that the other scopes do not have.
    public func without(_ others: RegistryScopes) -> RegistryScopes {
        RegistryScopes(resources.compactMap { $0.without(others.resources) })
    }

    /// The scopes for people: "push on team/app".
    public var words: String {
        resources.map { "\($0.actions.joined(separator: " and ")) on \($0.name)" }.joined(separator: ", ")
    }
}

/// The user and password of a registry, or of its token server. Without a user, its tokens are those for anyone.
public struct RegistrySource: Sendable, Hashable {
    public struct Login: Sendable, Hashable {
        public let user: ValueSource
        public let password: ValueSource

        public init(user: ValueSource, password: ValueSource) {
            self.user = user
            self.password = password
        }
    }

    /// The URL of the token server; nil if it is on the registry's own host and port.
    public let server: TokenIssuer?
    public let login: Login?
    /// The helper that gives the login instead.
    public var helper: HelperSource?
    /// The patterns of the scopes that may be asked for; empty for all.
    public let scopes: [RegistryScope]

    public init(server: TokenIssuer?, login: Login?, scopes: [RegistryScope] = []) {
        self.server = server
        self.login = login
        self.scopes = scopes
    }

    /// The methods of challenges that it can answer.
    public var methods: [AuthenticationMethod] { login == nil && helper == nil ? [.bearer] : [.bearer, .basic] }
}
