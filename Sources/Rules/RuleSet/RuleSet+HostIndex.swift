import Bytes
import Model

extension RuleSet {
    /// Finds the rules that may match a host without checking the others: names and `*.` suffixes by hash, all other
    /// patterns in one list. There is a list for each authentication method, ascending, so that "the first match wins"
    /// is a scan that stops early. A lookup hashes the host once, from its end, and allocates nothing.
    struct HostIndex: Sendable {
        /// A rule in the form that the index needs.
        struct Entry {
            let patterns: [HostPattern]
            /// The methods whose lists contain it. Routes use only one list.
            let methods: MethodSet
        }

        /// The list of every rule, for any method.
        static let everyMethod = AuthenticationMethod.allCases.count
        private static let listsPerKey = everyMethod + 1

        private struct Key: Sendable {
            let hash: UInt64
            let start: Int
            let end: Int
        }

        /// The names and suffixes, the latter with their leading dot.
        private var names: [UInt8] = []
        private var keys: [Key] = []
        /// The slots of open addressing: the number of a key plus one, or zero. Their number is a power of two; at most
        /// half are used.
        private var slots: [UInt32] = []
        /// The rule numbers of all lists, one list after the other. Each is doubled, and odd if the host certainly
        /// matches. List 0 has the patterns that are not keys.
        private var numbers: [UInt32] = []
        private var bounds: [Int] = [0]
        private var hasSuffixes = false
        /// The greatest length of a lookup in each list.
        private var lengths: [Int] = []

        init(_ entries: [Entry]) {
            var lists: [[(number: UInt32, methods: MethodSet)]] = [[]]
            var keyOf: [[UInt8]: Int] = [:]
            for (number, entry) in entries.enumerated() {
                var targets: Set<Int> = entry.patterns.isEmpty ? [0] : []
                for pattern in entry.patterns {
                    guard let name = pattern.key else {
                        targets.insert(0)
                        continue
                    }
                    if name.first == Self.dot { hasSuffixes = true }
                    let list = keyOf[name] ?? lists.count
                    if list == lists.count {
                        keyOf[name] = list
                        lists.append([])
                        keys.append(Key(hash: Self.hash(name), start: names.count, end: names.count + name.count))
                        names += name
                    }
                    targets.insert(list)
                }
                let matchesAll = entry.patterns.isEmpty || entry.patterns.contains { $0.form == .any }
                for target in targets {
                    let isKnown = target > 0 || matchesAll
                    lists[target].append((UInt32(number) << 1 | (isKnown ? 1 : 0), entry.methods))
                }
            }
            fillSlots()
            for list in lists {
                for method in AuthenticationMethod.allCases {
                    numbers += list.filter { $0.methods.contains(method) }.map(\.number)
                    bounds.append(numbers.count)
                }
                numbers += list.map(\.number)
                bounds.append(numbers.count)
            }
            lengths = (0..<Self.listsPerKey).map { list in
                let counts = stride(from: list, to: bounds.count - 1, by: Self.listsPerKey).map {
                    bounds[$0 + 1] - bounds[$0]
                }
                return counts[0] + (counts.dropFirst().max() ?? 0)
            }
        }

        /// The number of rules that a lookup in a list must check for a host with many of them. The rules of parent
        /// domains are not counted.
        func longest(list: Int) -> Int { lengths[list] }

        /// The lowest number of a rule that may match `host` and passes `test`. The second argument says whether the
        /// host certainly matches; if not, the test must check the rule's other patterns.
        func first(_ host: Span<UInt8>, list: Int, where test: (_ number: Int, _ hostMatches: Bool) -> Bool) -> Int? {
            var best = Int.max
            scan(0, list, &best, test)
            if !keys.isEmpty {
                var hash = Self.basis
                var index = host.count
                while index > 0 {
                    index -= 1
                    hash = Self.step(hash, host[index].asciiLowercased)
                    guard index == 0 || hasSuffixes && host[index] == Self.dot else { continue }
                    let name = host.extracting(index..<host.count)
                    if let key = find(name, hash) { scan(key + 1, list, &best, test) }
                }
            }
            return best == .max ? nil : best
        }

        private func scan(_ key: Int, _ list: Int, _ best: inout Int, _ test: (Int, Bool) -> Bool) {
            let first = key * Self.listsPerKey + list
            for position in bounds[first]..<bounds[first + 1] {
                let number = Int(numbers[position] >> 1)
                if number >= best { return }
                if test(number, numbers[position] & 1 == 1) {
                    best = number
                    return
                }
            }
        }

        private func find(_ name: Span<UInt8>, _ hash: UInt64) -> Int? {
            let mask = slots.count - 1
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 {
                let number = Int(slots[slot]) - 1
                let key = keys[number]
                if key.hash == hash, name.equalsIgnoringCase(names.span.extracting(key.start..<key.end)) {
                    return number
                }
                slot = (slot + 1) & mask
            }
            return nil
        }

        private mutating func fillSlots() {
            var count = 8
            while count < keys.count * 2 { count *= 2 }
            slots = Array(repeating: 0, count: count)
            for (number, key) in keys.enumerated() {
                var slot = Int(truncatingIfNeeded: key.hash) & (count - 1)
                while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
                slots[slot] = UInt32(number + 1)
            }
        }

        /// Computes FNV-1a over the bytes from last to first. Keys come from the rule file, so no peer can choose
        /// collisions.
        private static func hash(_ name: [UInt8]) -> UInt64 {
            name.reversed().reduce(basis) { step($0, $1) }
        }

        private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

        private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
        private static let dot = UInt8(ascii: ".")
    }
}

extension HostPattern {
    /// The bytes that the index uses as a key: a name, or a suffix with its dot. Nil for all other forms.
    fileprivate var key: [UInt8]? {
        switch form {
        case .exact(let name): name
        case .suffix(let end): end
        case .any, .glob, .addresses: nil
        }
    }
}
