import Bytes

/// Merges the lines of several sources, each sorted by time, into one sequence. A value without a clock.
public struct LineMerging {
    /// Consecutive lines of one source.
    public struct Batch: Sendable {
        /// A line, by its time and its end in the bytes of its batch.
        public typealias Line = (time: WallTime, end: Int)

        public private(set) var bytes: [UInt8]
        private var lines: [Line]
        private var next = 0

        /// - Parameter lines: the lines of all the bytes.
        public init(_ bytes: [UInt8], _ lines: [Line]) {
            self.bytes = bytes
            self.lines = lines
        }

        fileprivate var time: WallTime? { next < lines.count ? lines[next].time : nil }
        fileprivate var isWhole: Bool { next == 0 }
        public var count: Int { lines.count - next }

        /// Whether all of its lines are earlier than that time.
        fileprivate func isOver(before limit: WallTime) -> Bool { lines.allSatisfy { $0.time < limit } }

        /// Moves the lines before `limit` to the end of `taken`.
        fileprivate mutating func move(before limit: WallTime, to taken: inout Batch) {
            let start = next > 0 ? lines[next - 1].end : 0
            while next < lines.count, lines[next].time < limit {
                let end = taken.bytes.count + lines[next].end - start
                taken.lines.append((lines[next].time, end))
                next += 1
            }
            let end = next > 0 ? lines[next - 1].end : 0
            taken.bytes += bytes[start..<max(start, end)]
        }
    }

    /// The batches by source, oldest first; none is empty.
    private var waiting: [[Batch]] = []
    /// The size of the waiting batches in bytes.
    public private(set) var size = 0

    public init() {}

    public mutating func add(_ batch: Batch, of source: Int) {
        guard batch.count > 0 else { return }
        while waiting.count <= source { waiting.append([]) }
        waiting[source].append(batch)
        size += batch.bytes.count
    }

    /// Takes the lines earlier than `limit`, in order. Lines of one millisecond are in the order of the sources.
    public mutating func take(before limit: WallTime) -> Batch {
        // If only one source has lines, nothing needs to be sorted.
        if let only = onlyBatch(before: limit) { return only }
        var taken = Batch([], [])
        while let (source, end) = run(before: limit) {
            waiting[source][0].move(before: end, to: &taken)
            guard waiting[source][0].count == 0 else { continue }
            size -= waiting[source].removeFirst().bytes.count
        }
        return taken
    }

    private mutating func onlyBatch(before limit: WallTime) -> Batch? {
        guard let source = waiting.firstIndex(where: { !$0.isEmpty }), waiting[source].count == 1,
            waiting[(source + 1)...].allSatisfy({ $0.isEmpty }), waiting[source][0].isWhole,
            waiting[source][0].isOver(before: limit)
        else { return nil }
        size = 0
        return waiting[source].removeFirst()
    }

    /// The source with the oldest line before `limit`, and the time until which no other source has lines.
    private func run(before limit: WallTime) -> (source: Int, end: WallTime)? {
        var (first, end) = (Int?.none, limit)
        var oldest = limit
        for source in waiting.indices {
            guard let time = waiting[source].first?.time else { continue }
            if time < oldest {
                // The former oldest source precedes lines here with its time.
                if first != nil { end = oldest }
                (first, oldest) = (source, time)
            } else {
                end = min(end, time + 1)
            }
        }
        return first.map { ($0, end) }
    }
}
