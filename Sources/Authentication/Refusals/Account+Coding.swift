import Bytes

/// The form in which a store keeps accounts.
///
/// The first byte is the format. Each part is in a frame that begins with its length. A later version of this program
/// appends new fields to the end of a frame, and an earlier one skips them. Integers are in LEB128, hashes in eight
/// bytes.
extension Account {
    private static let format: UInt8 = 1

    /// The account in at most this many bytes. If it is larger, samples are dropped first, then the records of servers
    /// that have neither accepted nor paused the version, then the records of the servers that were asked first.
    public func encoded(within limit: Int) -> [UInt8] {
        var (account, reductions) = (self, Self.reductions[...])
        var bytes = account.encoded
        while bytes.count > limit {
            if let reduce = reductions.popFirst() {
                reduce(&account)
            } else if account.records.isEmpty {
                return Account().encoded
            } else {
                account.records.removeFirst((account.records.count + 7) / 8)
            }
            bytes = account.encoded
        }
        return bytes
    }

    private static let reductions: [@Sendable (inout Account) -> Void] = [
        { account in account.changeRecords { $0.samples = Array($0.samples.prefix(1)) } },
        { account in
            account.changeRecords { record in
                record.samples = []
                record.fixedSample = nil
                record.reason = nil
            }
        },
        { account in account.records.removeAll { !$0.isKnown && !$0.wasKnown && $0.pause == nil && $0.leader == nil } },
    ]

    private var encoded: [UInt8] {
        var writer = Account.Writer()
        writer.frame { writer in
            writer.put(flags: [isProven, isRotated, firstPause != nil])
            writer.put(number)
            writer.put(unprovenRefusals)
            writer.put(unprovenTry)
            writer.put(firstPause ?? 0)
            for time in [since, lastSent, doubtedSince] { writer.put(time) }
        }
        writer.put(slots) { writer, slot in slot.write(to: &writer) }
        writer.put(records) { writer, record in record.write(to: &writer) }
        writer.put(reservations) { writer, reservation in
            writer.put(reservation.id)
            writer.put(reservation.end)
            writer.put(reservation.number)
            writer.put(flags: [reservation.isCleared])
            writer.put(reservation.server)
        }
        writer.put(unprovenPlace.map { [$0] } ?? []) { writer, place in
            writer.put(place.server)
            writer.put(hash: place.target)
        }
        return [Self.format] + writer.bytes
    }

    /// Nil for bytes that are not an account.
    public init?(encoded bytes: [UInt8]) {
        guard bytes.first == Self.format else { return nil }
        var reader = Account.Reader(bytes.dropFirst())
        guard var head = reader.frame(), let flags = head.flags(), let number = head.number(),
            let unprovenRefusals = head.number(), let unprovenTry = head.time(), let firstPause = head.time(),
            let slots = reader.list({ Slot(from: &$0) }), let records = reader.list({ Record(from: &$0) }),
            let reservations = reader.list({ Reservation(from: &$0) }),
            let places = reader.list({ Place(from: &$0) })
        else { return nil }
        self.init()
        (isProven, isRotated) = (flags.contains(0), flags.contains(1))
        self.firstPause = flags.contains(2) ? firstPause : nil
        (self.number, self.unprovenRefusals, self.unprovenTry) = (number, unprovenRefusals, unprovenTry)
        (self.slots, self.records, self.reservations) = (slots, records, reservations)
        unprovenPlace = places.last
        (since, lastSent, doubtedSince) = (head.time() ?? 0, head.time() ?? 0, head.time() ?? 0)
    }
}

extension Account.Slot {
    fileprivate func write(to writer: inout Account.Writer) {
        writer.put(time)
        writer.put(id)
        writer.put(refusals) { writer, refusal in
            writer.put(hash: refusal.replica)
            writer.put(refusal.sent)
            writer.put(refusal.id)
        }
    }

    fileprivate init?(from reader: inout Account.Reader) {
        guard let time = reader.time(), let id = reader.number(),
            let refusals = reader.list({ reader -> Refusal? in
                guard let replica = reader.hash(), let sent = reader.number(), let id = reader.number() else {
                    return nil
                }
                return Refusal(replica: replica, sent: sent, id: id)
            })
        else { return nil }
        self.init(time: time, id: id, refusals: refusals)
    }
}

extension Account.Record {
    fileprivate func write(to writer: inout Account.Writer) {
        writer.put(server)
        writer.put(flags: [
            isKnown, mayAskOpenly, mayProbe, pause != nil, leader != nil, fixedSample != nil, reason != nil, wasKnown,
        ])
        writer.put(indecisions)
        writer.put(clearances)
        writer.put(retry) { writer, step in writer.put(step.count) }
        writer.put(refusedTargets) { writer, target in writer.put(hash: target) }
        writer.put(samples) { writer, sample in sample.write(to: &writer) }
        if let pause { writer.frame { pause.write(to: &$0) } }
        if let leader { writer.frame { $0.put(leader) } }
        if let fixedSample { writer.frame { fixedSample.write(to: &$0) } }
        if let reason { writer.put(reason) }
        for time in [lastAccepted, lastRefused, unknownTry] { writer.put(time) }
        writer.put(flags: [takesTickets])
        writer.put(doubt.map { [$0] } ?? []) { writer, doubt in doubt.write(to: &writer) }
    }

    fileprivate init?(from reader: inout Account.Reader) {
        guard let server = reader.text(), let flags = reader.flags(), let indecisions = reader.number(),
            let clearances = reader.number(), let retry = reader.list({ $0.number().map { Milliseconds($0) } }),
            let refusedTargets = reader.list({ $0.hash() }),
            let samples = reader.list({ Account.Sample(from: &$0) })
        else { return nil }
        self.init(server)
        (isKnown, mayAskOpenly, mayProbe) = (flags.contains(0), flags.contains(1), flags.contains(2))
        wasKnown = flags.contains(7)
        (self.indecisions, self.clearances, self.retry) = (indecisions, clearances, retry)
        (self.refusedTargets, self.samples) = (refusedTargets, samples)
        if flags.contains(3) {
            guard var frame = reader.frame(), let pause = Account.Pause(from: &frame) else { return nil }
            self.pause = pause
        }
        if flags.contains(4) {
            guard var frame = reader.frame(), let leader = frame.reservationID() else { return nil }
            self.leader = leader
        }
        if flags.contains(5) {
            guard var frame = reader.frame(), let sample = Account.Sample(from: &frame) else { return nil }
            fixedSample = sample
        }
        if flags.contains(6) {
            guard let reason = reader.text() else { return nil }
            self.reason = reason
        }
        (lastAccepted, lastRefused) = (reader.time() ?? 0, reader.time() ?? 0)
        unknownTry = reader.time() ?? 0
        takesTickets = reader.flags()?.contains(0) ?? false
        doubt = reader.list { Account.Slot(from: &$0) }?.last
    }
}

extension Account.Pause {
    fileprivate func write(to writer: inout Account.Writer) {
        for time in [since, nextTry] { writer.put(time) }
        for value in [step, number, sent] { writer.put(value) }
        writer.put(hash: replica)
    }

    fileprivate init?(from reader: inout Account.Reader) {
        guard let since = reader.time(), let nextTry = reader.time(), let step = reader.number(),
            let number = reader.number(), let sent = reader.number(), let replica = reader.hash()
        else { return nil }
        self.init(since: since, nextTry: nextTry, step: step, number: number, replica: replica, sent: sent)
    }
}

extension Account.Sample {
    fileprivate func write(to writer: inout Account.Writer) {
        writer.put(hash: target)
        writer.put(content)
        writer.put(flags: [wasRefused])
    }

    fileprivate init?(from reader: inout Account.Reader) {
        guard let target = reader.hash(), let content = reader.bytes() else { return nil }
        self.init(target: target, content: content)
        wasRefused = reader.flags()?.contains(0) ?? false
    }
}

extension Account.Reservation {
    fileprivate init?(from reader: inout Account.Reader) {
        guard let id = reader.reservationID(), let end = reader.time(), let number = reader.number(),
            let flags = reader.flags()
        else { return nil }
        let server = reader.text() ?? ""
        self.init(id: id, server: server, number: number, end: end, isCleared: flags.contains(0))
    }
}

extension Account.Place {
    fileprivate init?(from reader: inout Account.Reader) {
        guard let server = reader.text(), let target = reader.hash() else { return nil }
        self.init(server: server, target: target)
    }
}

extension Account {
    fileprivate struct Writer {
        private(set) var bytes: [UInt8] = []

        mutating func put(_ number: Int) {
            var rest = UInt64(bitPattern: Int64(number))
            while rest > 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: rest))
        }

        mutating func put(_ time: WallTime) { put(time.milliseconds) }

        mutating func put(hash: UInt64) {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: hash >> shift))
            }
        }

        /// - Parameter flags: up to eight.
        mutating func put(flags: [Bool]) { bytes.append(flags.reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) }) }

        mutating func put(_ content: [UInt8]) {
            put(content.count)
            bytes += content
        }

        mutating func put(_ text: String) { put(Array(text.utf8)) }

        mutating func put(_ id: Account.Reservation.ID) {
            put(hash: id.replica)
            put(id.sent)
        }

        mutating func frame(_ body: (inout Account.Writer) -> Void) {
            var inner = Account.Writer()
            body(&inner)
            put(inner.bytes)
        }

        /// Writes the number of elements, then a frame for each.
        mutating func put<Element>(_ elements: [Element], _ body: (inout Account.Writer, Element) -> Void) {
            put(elements.count)
            for element in elements { frame { body(&$0, element) } }
        }
    }

    /// Each method returns nil if the bytes end too early.
    fileprivate struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func number() -> Int? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), through: 63, by: 7) {
                guard let byte = rest.popFirst() else { return nil }
                value |= UInt64(byte & 0x7F) << shift
                if byte & 0x80 == 0 { return Int(Int64(bitPattern: value)) }
            }
            return nil
        }

        mutating func time() -> WallTime? { number().map { WallTime(milliseconds: $0) } }

        mutating func hash() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func flags() -> Set<Int>? {
            rest.popFirst().map { byte in Set((0..<8).filter { byte >> $0 & 1 == 1 }) }
        }

        mutating func bytes() -> [UInt8]? { slice().map { Array($0) } }

        mutating func text() -> String? { slice().flatMap { String(validating: $0, as: UTF8.self) } }

        mutating func reservationID() -> Account.Reservation.ID? {
            guard let replica = hash(), let sent = number() else { return nil }
            return Account.Reservation.ID(replica: replica, sent: sent)
        }

        mutating func frame() -> Account.Reader? { slice().map { Account.Reader($0) } }

        mutating func list<Element>(_ body: (inout Account.Reader) -> Element?) -> [Element]? {
            // Each element has at least a byte for its length.
            guard let count = number(), 0...rest.count ~= count else { return nil }
            var elements: [Element] = []
            elements.reserveCapacity(count)
            for _ in 0..<count {
                guard var frame = frame(), let element = body(&frame) else { return nil }
                elements.append(element)
            }
            return elements
        }

        private mutating func slice() -> ArraySlice<UInt8>? {
            guard let count = number(), 0...rest.count ~= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }
}
