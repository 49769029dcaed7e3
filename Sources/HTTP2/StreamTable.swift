/// The open streams of a connection by their numbers.
struct StreamTable {
    /// The slots of the table, of which at most half are taken.
    private var places = [MultiplexedStream?](repeating: nil, count: 16)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var all: [MultiplexedStream] { places.compactMap { $0 } }

    private var mask: Int { places.count - 1 }
    /// The place where the search for a stream begins. The numbers of open streams follow one another: multiplied by the golden
    /// ratio of 2³², they lie far apart, so that a search meets a free place soon.
    private func home(of id: Int32) -> Int {
        let hash = UInt32(bitPattern: id >> 1) &* 0x9E37_79B9
        return Int(hash >> 16) & mask
    }

    /// The place of the stream with that number, or the free one where the search for it ends.
    private func place(of id: Int32) -> Int {
        var place = home(of: id)
        while let other = places[place]?.id, other != id { place = (place + 1) & mask }
        return place
    }

    subscript(id: Int32) -> MultiplexedStream? { places[place(of: id)] }

    mutating func insert(_ stream: MultiplexedStream) {
        if 2 * (count + 1) > places.count {
            let streams = all
            places = [MultiplexedStream?](repeating: nil, count: 2 * places.count)
            for stream in streams { places[place(of: stream.id)] = stream }
        }
        let place = place(of: stream.id)
        if places[place] == nil { count += 1 }
        places[place] = stream
    }

    mutating func remove(_ id: Int32) -> MultiplexedStream? {
        var hole = place(of: id)
        guard let removed = places[hole] else { return nil }
        count -= 1
        // A later stream whose search passes the hole moves into it.
        var next = (hole + 1) & mask
        while let other = places[next]?.id {
            if (next &- home(of: other)) & mask >= (next &- hole) & mask {
                places[hole] = places[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        places[hole] = nil
        return removed
    }

    mutating func removeAll() { self = StreamTable() }
}
