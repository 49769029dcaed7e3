/// Brings the lines of several sources, each in the order of time by itself, into one. A value without a clock.
public struct LineMerging {
    /// Lines of one source, behind one another.
    public struct Batch: Sendable {
        public struct Line: Sendable {
            /// Milliseconds since 1970.
            let time: Int
            /// Where it ends among the bytes of its batch.
            let end: Int

            public init(time: Int, end: Int) {
                self.time = time
                self.end = end
            }
        }

        public private(set) var bytes: [UInt8]
        private var lines: [Line]
        private var next = 0

        /// - Parameter lines: of all the bytes.
        public init(_ bytes: [UInt8], _ lines: [Line]) {
            self.bytes = bytes
            self.lines = lines
        }

        fileprivate var time: Int? { next < lines.count ? lines[next].time : nil }
        fileprivate var isWhole: Bool { next == 0 }
        public var count: Int { lines.count - next }

        /// Whether all of its lines are from before that time.
        fileprivate func isOver(before limit: Int) -> Bool { lines.allSatisfy { $0.time < limit } }

        /// Moves the lines up to the first from `limit` on behind those of `taken`.
        fileprivate mutating func move(before limit: Int, to taken: inout Batch) {
            let start = next > 0 ? lines[next - 1].end : 0
            while next < lines.count, lines[next].time < limit {
                let end = taken.bytes.count + lines[next].end - start
                taken.lines.append(Line(time: lines[next].time, end: end))
                next += 1
            }
            let end = next > 0 ? lines[next - 1].end : 0
            taken.bytes += bytes[start..<max(start, end)]
        }
    }

    /// By source, oldest first; none is empty.
    private var waiting: [[Batch]] = []
    /// Bytes of the batches that wait.
    public private(set) var size = 0

    public init() {}

    public mutating func add(_ batch: Batch, of source: Int) {
        guard batch.count > 0 else { return }
        while waiting.count <= source { waiting.append([]) }
        waiting[source].append(batch)
        size += batch.bytes.count
    }

    /// Takes the lines from before a time, in order. Of one millisecond those of the first sources come first.
    public mutating func take(before limit: Int) -> Batch {
        // Where one source alone has said something, nothing has to be put in order.
        if let only = onlyBatch(before: limit) { return only }
        var taken = Batch([], [])
        while let (source, end) = run(before: limit) {
            waiting[source][0].move(before: end, to: &taken)
            guard waiting[source][0].count == 0 else { continue }
            size -= waiting[source].removeFirst().bytes.count
        }
        return taken
    }

    private mutating func onlyBatch(before limit: Int) -> Batch? {
        guard let source = waiting.firstIndex(where: { !$0.isEmpty }), waiting[source].count == 1,
            waiting[(source + 1)...].allSatisfy({ $0.isEmpty }), waiting[source][0].isWhole,
            waiting[source][0].isOver(before: limit)
        else { return nil }
        size = 0
        return waiting[source].removeFirst()
    }

    /// The source whose next line is the oldest from before that time, and the time until which it is alone.
    private func run(before limit: Int) -> (source: Int, end: Int)? {
        var (first, end) = (Int?.none, limit)
        var oldest = limit
        for source in waiting.indices {
            guard let time = waiting[source].first?.time else { continue }
            if time < oldest {
                // The one that was the oldest so far comes before lines of its own time that stand here.
                if first != nil { end = oldest }
                (first, oldest) = (source, time)
            } else {
                end = min(end, time &+ 1)
            }
        }
        return first.map { ($0, end) }
    }
}
