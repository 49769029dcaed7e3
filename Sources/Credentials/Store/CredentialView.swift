import Authentication
import Bytes
import Crypto
import Model

/// One process's view of a store: every credential, sealed as in the database, and found in constant time. A password
/// is decrypted when it is used.
struct CredentialView: Sendable {
    /// The result of a search.
    enum Opening {
        case credential(Credential)
        /// The row was changed, or moved here from elsewhere. Reported once.
        case foreign(user: String, host: String)
    }

    private struct StoredOrigin: Sendable {
        let origin: Origin
        var spaces = 0
    }

    private struct StoredSpace: Sendable {
        /// The slot of the origin.
        let originSlot: Int32
        let realm: ExactText?
        let method: AuthenticationMethod
        var firstRow: Int32 = none
        var defaultRow: Int32 = none
    }

    private struct Row: Sendable {
        /// The user's name, followed by the box.
        let content: [UInt8]
        let userCount: Int32
        let spaceSlot: Int32
        /// The neighbours in a ring of the space's rows.
        var next: Int32
        var previous: Int32
        /// Index in `opened`; `none` if sealed, `foreign` if it cannot be decrypted.
        var opened: Int32 = none

        var user: String { content.span.extracting(first: Int(userCount)).text }
        var box: ArraySlice<UInt8> { content[Int(userCount)...] }

        func isOf(_ user: Span<UInt8>) -> Bool {
            Int(userCount) == user.count && content.span.extracting(first: Int(userCount)).equals(user)
        }

        var tag: UInt128 {
            SealingKey.tag(of: content.span.extracting(Int(userCount)..<content.count)) ?? 0
        }
    }

    private static let none: Int32 = -1
    private static let foreign: Int32 = -2

    /// The key that seals every row.
    let dataKey: SealingKey
    private var origins = Slots<StoredOrigin>()
    private var spaces = Slots<StoredSpace>()
    private var rows = Slots<Row>()
    private var originTable = SlotTable()
    private var spaceTable = SlotTable()
    private var rowTable = SlotTable()
    /// The realms. Many spaces have the same one.
    private var realms: Set<ExactText> = []
    private var opened: CredentialView.Opened
    private(set) var count = 0

    /// - Parameter capacity: the limit of decrypted credentials.
    init(dataKey: SealingKey, keepingOpen capacity: Int = 1024) {
        self.dataKey = dataKey
        opened = CredentialView.Opened(capacity: capacity)
    }

    // MARK: - Search

    func serves(_ origin: Origin) -> Bool { originSlot(of: origin) != nil }

    mutating func defaultCredential(for space: ProtectionSpace) -> Opening? {
        guard let spaceSlot = spaceSlot(of: space), let row = spaces[spaceSlot]?.defaultRow, row != Self.none else {
            return nil
        }
        return open(Int(row))
    }

    mutating func credential(of user: String, for space: ProtectionSpace) -> Opening? {
        row(of: user, for: space).flatMap { open($0) }
    }

    func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        guard let row = row(of: user, for: space), let tag = rows[row]?.tag else { return nil }
        return CredentialVersion(name: space.credentialName(of: user), fingerprint: tag)
    }

    func defaultUser(for space: ProtectionSpace) -> String? {
        guard let spaceSlot = spaceSlot(of: space), let row = spaces[spaceSlot]?.defaultRow else { return nil }
        return rows[Int(row)]?.user
    }

    func users(for space: ProtectionSpace) -> [String] {
        guard let spaceSlot = spaceSlot(of: space) else { return [] }
        var users: [String] = []
        var row = spaces[spaceSlot]?.firstRow ?? Self.none
        while row != Self.none, let current = rows[Int(row)] {
            users.append(current.user)
            row = current.next
        }
        return users
    }

    /// Visits every credential without its secret, in no particular order.
    func visit(_ body: (ProtectionSpace, _ user: String, _ isDefault: Bool) -> Void) {
        for slot in rows.indices {
            guard let row = rows[slot], let stored = spaces[Int(row.spaceSlot)], let space = space(of: stored) else {
                continue
            }
            body(space, row.user, stored.defaultRow == slot)
        }
    }

    /// The decrypted credentials of Kerberos principals that have a ticket.
    var ticketHolders: [ProtectionSpace: [ExactText: Credential]] {
        var holders: [ProtectionSpace: [ExactText: Credential]] = [:]
        for (slot, credential) in opened.all where credential.principal?.ticketEnd != nil {
            guard let row = rows[slot], let stored = spaces[Int(row.spaceSlot)], let space = space(of: stored) else {
                continue
            }
            holders[space, default: [:]][ExactText(row.user)] = credential
        }
        return holders
    }

    /// The changes from `old` to this view, in no particular order.
    func changes(since old: borrowing CredentialView) -> [StoredCredentials.Change] {
        var changes: [StoredCredentials.Change] = []
        visit { space, user, isDefault in
            if isDefault, old.defaultUser(for: space)?.hasSameBytes(as: user) != true {
                changes.append(StoredCredentials.Change(.madeDefault, space: space, user: user))
            } else if old.version(of: user, for: space) != version(of: user, for: space) {
                changes.append(StoredCredentials.Change(.set, space: space, user: user))
            }
        }
        old.visit { space, user, _ in
            if row(of: user, for: space) == nil {
                changes.append(StoredCredentials.Change(.removed, space: space, user: user))
            }
        }
        return changes
    }

    private mutating func open(_ slot: Int) -> Opening? {
        guard let row = rows[slot], let stored = spaces[Int(row.spaceSlot)], row.opened != Self.foreign else {
            return nil
        }
        if row.opened != Self.none, let known = opened[Int(row.opened)] { return .credential(known) }
        guard let space = space(of: stored) else { return nil }
        let sealed = StoredCredential(space: space, user: row.user, isDefault: false, sealed: Array(row.box))
        do throws(CryptoError) {
            let credential = try sealed.credential(openedWith: dataKey)
            let (openedSlot, evicted) = opened.add(credential, of: slot)
            if let evicted { rows[evicted]?.opened = Self.none }
            rows[slot]?.opened = Int32(clamping: openedSlot)
            return .credential(credential)
        } catch {
            rows[slot]?.opened = Self.foreign
            return .foreign(user: row.user, host: space.host)
        }
    }

    // MARK: - Change

    /// - Parameter isDefault: whether it is the space's default; nil: if it was, it is.
    /// - Returns: the change for listeners; nil if nothing is new.
    mutating func put(
        _ sealed: [UInt8], of user: String, for space: ProtectionSpace, isDefault: Bool?
    ) -> StoredCredentials.Change? {
        let spaceSlot = spaceSlot(of: space) ?? addSpace(for: space)
        let (row, isNew) = put(sealed, of: user, on: spaceSlot)
        let former = spaces[spaceSlot]?.defaultRow
        if isDefault == true, former != Int32(clamping: row) {
            spaces[spaceSlot]?.defaultRow = Int32(clamping: row)
            return StoredCredentials.Change(.madeDefault, space: space, user: user)
        }
        if isDefault == false, former == Int32(clamping: row) { spaces[spaceSlot]?.defaultRow = Self.none }
        return isNew ? StoredCredentials.Change(.set, space: space, user: user) : nil
    }

    mutating func makeDefault(user: String, for space: ProtectionSpace) -> StoredCredentials.Change? {
        guard let row = row(of: user, for: space), let spaceSlot = rows[row]?.spaceSlot,
            spaces[Int(spaceSlot)]?.defaultRow != Int32(clamping: row)
        else { return nil }
        spaces[Int(spaceSlot)]?.defaultRow = Int32(clamping: row)
        return StoredCredentials.Change(.madeDefault, space: space, user: user)
    }

    /// Removes a credential; true if it existed.
    mutating func remove(user: String, for space: ProtectionSpace) -> Bool {
        guard let slot = row(of: user, for: space), let row = rows[slot] else { return false }
        unlink(slot, row)
        rowTable.remove(slot, Self.hash(user.utf8Span.span, on: Int(row.spaceSlot)))
        rows.remove(slot)
        count -= 1
        if spaces[Int(row.spaceSlot)]?.firstRow == Self.none { removeSpace(Int(row.spaceSlot), of: space) }
        return true
    }

    /// - Returns: the slot, and whether the value is a new one.
    private mutating func put(_ sealed: [UInt8], of user: String, on spaceSlot: Int) -> (row: Int, isNew: Bool) {
        let content = Array(user.utf8) + sealed
        let userCount = Int32(clamping: content.count - sealed.count)
        if let slot = row(of: user.utf8Span.span, on: spaceSlot), let old = rows[slot] {
            let changed = Row(
                content: content, userCount: userCount, spaceSlot: old.spaceSlot, next: old.next, previous: old.previous
            )
            guard changed.tag != old.tag else { return (slot, false) }
            opened.remove(Int(old.opened))
            rows[slot] = changed
            return (slot, true)
        }
        let first = spaces[spaceSlot]?.firstRow ?? Self.none
        let slot = rows.add(
            Row(
                content: content, userCount: userCount, spaceSlot: Int32(clamping: spaceSlot), next: first,
                previous: Self.none)
        )
        if first != Self.none { rows[Int(first)]?.previous = Int32(clamping: slot) }
        spaces[spaceSlot]?.firstRow = Int32(clamping: slot)
        rowTable.insert(slot, Self.hash(user.utf8Span.span, on: spaceSlot))
        count += 1
        return (slot, true)
    }

    private mutating func unlink(_ slot: Int, _ row: Row) {
        let spaceSlot = Int(row.spaceSlot)
        opened.remove(Int(row.opened))
        if row.previous != Self.none {
            rows[Int(row.previous)]?.next = row.next
        } else {
            spaces[spaceSlot]?.firstRow = row.next
        }
        if row.next != Self.none { rows[Int(row.next)]?.previous = row.previous }
        if spaces[spaceSlot]?.defaultRow == Int32(clamping: slot) { spaces[spaceSlot]?.defaultRow = Self.none }
    }

    private mutating func addSpace(for space: ProtectionSpace) -> Int {
        let originSlot = originSlot(of: space.origin) ?? addOrigin(space.origin)
        origins[originSlot]?.spaces += 1
        let spaceSlot = spaces.add(
            StoredSpace(
                originSlot: Int32(clamping: originSlot),
                realm: space.realm.map { realms.insert(ExactText($0)).memberAfterInsert },
                method: space.authenticationMethod))
        spaceTable.insert(spaceSlot, Self.hash(space))
        return spaceSlot
    }

    private mutating func removeSpace(_ spaceSlot: Int, of space: ProtectionSpace) {
        guard let originSlot = spaces[spaceSlot]?.originSlot else { return }
        spaceTable.remove(spaceSlot, Self.hash(space))
        spaces.remove(spaceSlot)
        origins[Int(originSlot)]?.spaces -= 1
        guard origins[Int(originSlot)]?.spaces == 0 else { return }
        originTable.remove(Int(originSlot), Self.hash(space.origin))
        origins.remove(Int(originSlot))
    }

    private mutating func addOrigin(_ origin: Origin) -> Int {
        let originSlot = origins.add(StoredOrigin(origin: origin))
        originTable.insert(originSlot, Self.hash(origin))
        return originSlot
    }

    // MARK: - The tables

    private func originSlot(of origin: Origin) -> Int? {
        originTable.first(Self.hash(origin)) { origins[$0]?.origin == origin }
    }

    private func spaceSlot(of space: ProtectionSpace) -> Int? {
        spaceTable.first(Self.hash(space)) { slot in
            guard let stored = spaces[slot] else { return false }
            return stored.method == space.authenticationMethod && stored.realm == space.realm.map { ExactText($0) }
                && origins[Int(stored.originSlot)]?.origin == space.origin
        }
    }

    private func row(of user: String, for space: ProtectionSpace) -> Int? {
        spaceSlot(of: space).flatMap { row(of: user.utf8Span.span, on: $0) }
    }

    /// An iterator, since closures cannot capture a span.
    private func row(of user: Span<UInt8>, on spaceSlot: Int) -> Int? {
        var candidates = rowTable.candidates(Self.hash(user, on: spaceSlot))
        while let slot = rowTable.next(&candidates) {
            guard let row = rows[slot], row.spaceSlot == Int32(clamping: spaceSlot), row.isOf(user) else { continue }
            return slot
        }
        return nil
    }

    private func space(of stored: StoredSpace) -> ProtectionSpace? {
        origins[Int(stored.originSlot)].map {
            ProtectionSpace(origin: $0.origin, realm: stored.realm?.text, authenticationMethod: stored.method)
        }
    }

    private static func hash(_ origin: Origin) -> UInt64 {
        SpanHash.of(origin.host.utf8Span.span, seed: UInt64(origin.port))
    }

    private static func hash(_ space: ProtectionSpace) -> UInt64 {
        SpanHash.of((space.realm ?? "").utf8Span.span, seed: hash(space.origin))
    }

    private static func hash(_ user: Span<UInt8>, on spaceSlot: Int) -> UInt64 {
        SpanHash.of(user, seed: UInt64(truncatingIfNeeded: spaceSlot) &* 0x9E37_79B9)
    }

    /// The recently used credentials of a view, decrypted. A credential that is replaced, or unused for long, is
    /// released. Its password is zeroed with the last request that uses it.
    fileprivate struct Opened {
        private struct Entry {
            let row: Int
            let credential: Credential
            var isRecent = true
        }

        private let capacity: Int
        private var entries: [Entry?] = []
        /// The index at which the search for the next to go begins.
        private var hand = 0

        init(capacity: Int) { self.capacity = max(1, capacity) }

        /// - Parameter slot: a result of `add`.
        subscript(slot: Int) -> Credential? {
            mutating get {
                guard entries.indices.contains(slot), let entry = entries[slot] else { return nil }
                if !entry.isRecent { entries[slot]?.isRecent = true }
                return entry.credential
            }
        }

        /// All opened credentials, by row.
        var all: [(row: Int, credential: Credential)] { entries.compactMap { $0.map { ($0.row, $0.credential) } } }

        /// - Returns: the slot, and the row that was evicted for it.
        mutating func add(_ credential: Credential, of row: Int) -> (slot: Int, evicted: Int?) {
            if entries.count < capacity {
                entries.append(Entry(row: row, credential: credential))
                return (entries.count - 1, nil)
            }
            while entries[hand]?.isRecent == true {
                entries[hand]?.isRecent = false
                hand = (hand + 1) % capacity
            }
            let slot = hand
            let evicted = entries[slot]?.row
            entries[slot] = Entry(row: row, credential: credential)
            hand = (hand + 1) % capacity
            return (slot, evicted)
        }

        mutating func remove(_ slot: Int) {
            if entries.indices.contains(slot) { entries[slot] = nil }
        }
    }
}
