import Bytes
import IO
import Telemetry

/// The content of open pages, sent as server-sent events and made once a second for all of them. Belongs to one loop. A
/// thread of `pool` writes the parts, since the loop has clients to serve.
final class DashboardFeed {
    /// The seconds of load that a page gets when it is opened.
    static let memory = 300

    /// The limit of pages that are open at the same time.
    let limit: Int
    private let sources: DashboardSources
    private let loop: EventLoop
    private let pool: BlockingPool
    /// Whether the pool is writing the parts.
    private var isMaking = false
    /// Whether to write the parts again afterwards, since something changed after the start.
    private var isDue = false
    private var alarm: Alarm?
    private var readers: [Reader] = []
    private var figures: LoadFigures
    private var samples: [LoadFigures.Sample] = []
    /// The number of the latest sample.
    private var sampleNumber = 0
    private var parts: [Part]
    /// The start of the feed.
    private let start = SystemClock.wallTime

    /// An open page.
    final class Reader {
        fileprivate let wakeup: Wakeup
        /// The number of each part that the page has.
        fileprivate var known: [Int]
        /// The number of the latest sample that the page has.
        fileprivate var lastSample = 0
        /// The number of the last request that it has.
        fileprivate var lastRequest = 0

        fileprivate init(_ wakeup: Wakeup, parts: Int) {
            self.wakeup = wakeup
            known = Array(repeating: 0, count: parts)
        }
    }

    /// A part of the page, sent whole when it has changed.
    private struct Part: Sendable {
        let name: StaticString
        let write: DashboardSources.Writer
        var text = ""
        /// The number of changes.
        var number = 0
    }

    init(_ sources: DashboardSources, limit: Int, on loop: EventLoop, writingOn pool: BlockingPool = .shared) {
        self.limit = limit
        self.sources = sources
        self.loop = loop
        self.pool = pool
        figures = sources.load()
        parts = DashboardSources.parts.map { Part(name: $0.name, write: $0.write) }
        alarm = Alarm(on: loop) { [unowned self] in tick() }
        setAlarm()
    }

    /// Sets the alarm to the next full second, so that each second has one sample.
    private func setAlarm() { alarm?.set(after: Milliseconds(1000 - loop.wallTime.milliseconds % 1000)) }

    /// Ends the feed: no more events are sent.
    func end() {
        alarm?.cancel()
        alarm = nil
    }

    var hasRoom: Bool { readers.count < limit }

    /// - Parameter wakeup: signalled when there is something new.
    func open(_ wakeup: Wakeup) -> Reader {
        let reader = Reader(wakeup, parts: parts.count)
        readers.append(reader)
        if readers.count == 1 { renew() }
        return reader
    }

    func close(_ reader: Reader) { readers.removeAll { $0 === reader } }

    /// Updates the pages soon, after an action that they show.
    func refresh() {
        if !readers.isEmpty { renew() }
    }

    private func tick() {
        let now = sources.load()
        samples.append(LoadFigures.Sample(from: figures, to: now, at: loop.wallTime))
        sampleNumber += 1
        if samples.count > Self.memory { samples.removeFirst(samples.count - Self.memory) }
        figures = now
        sources.requests.isWatched = sources.access.hasSession()
        setAlarm()
        wake()
        refresh()
    }

    /// Writes the parts again, and wakes the readers if one has changed.
    private func renew() {
        isDue = isMaking
        if isMaking { return }
        isMaking = true
        let (sources, parts, bound) = (sources, parts, LoopBound(self, to: loop))
        pool.submit {
            let changed = Self.changed(parts, sources)
            bound.loop.submit { bound.value.take(changed) }
        }
    }

    /// Writes the parts. This takes long with many entries: do not call it on a loop.
    ///
    /// - Returns: the parts that have changed, each with its index.
    private static func changed(_ parts: [Part], _ sources: DashboardSources) -> [(place: Int, text: String)] {
        parts.indices.compactMap { place in
            var json = JSONText()
            parts[place].write(sources, &json)
            return json.text == parts[place].text ? nil : (place, json.text)
        }
    }

    private func take(_ changed: [(place: Int, text: String)]) {
        isMaking = false
        for (place, text) in changed {
            parts[place].text = text
            parts[place].number += 1
        }
        if !changed.isEmpty { wake() }
        if isDue { renew() }
    }

    private func wake() {
        for reader in readers { reader.wakeup.signal() }
    }

    /// Writes everything that the reader does not have yet. A slow reader skips intermediate states.
    func write(to reader: Reader, into buffer: ByteBuffer) {
        if reader.lastSample != sampleNumber {
            var json = JSONText()
            let news = samples.suffix(min(samples.count, sampleNumber - reader.lastSample))
            json.array { json in for sample in news { sample.write(to: &json) } }
            Self.write("load", json.text, into: buffer)
            reader.lastSample = sampleNumber
        }
        writeRequests(to: reader, into: buffer)
        for (place, part) in parts.enumerated() where reader.known[place] != part.number {
            Self.write(part.name, part.text, into: buffer)
            reader.known[place] = part.number
        }
    }

    /// Returns the requests that the reader does not have yet, with the start of the proxy, because their numbers begin
    /// with it.
    private func writeRequests(to reader: Reader, into buffer: ByteBuffer) {
        guard sources.requests.last != reader.lastRequest else { return }
        buffer.append("event: requests\ndata: {\"start\":" as StaticString)
        buffer.append(decimal: start.milliseconds)
        buffer.append(",\"entries\":[" as StaticString)
        reader.lastRequest = sources.requests.write(after: reader.lastRequest, into: buffer)
        buffer.append("]}\n\n" as StaticString)
    }

    /// The JSON here contains no line ends.
    private static func write(_ name: StaticString, _ text: String, into buffer: ByteBuffer) {
        buffer.append("event: " as StaticString)
        buffer.append(name)
        buffer.append("\ndata: " as StaticString)
        buffer.append(text)
        buffer.append("\n\n" as StaticString)
    }
}
