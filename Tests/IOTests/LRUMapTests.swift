import Testing

@testable import IO

struct LRUMapTests {
    @Test func `the entry that was unused longest goes first`() {
        var map = LRUMap<String, Int>()
        #expect(map.oldest == nil)
        for (value, key) in ["a", "b", "c"].enumerated() { map.put(value, for: key) }
        #expect(map.oldest?.key == "a")
        #expect(map.use("a") == 0)
        #expect(map.use("x") == nil)
        #expect(map.oldest?.key == "b")
        map.put(7, for: "b")
        #expect(map.oldest?.key == "c")
        map.remove("c")
        #expect(map.contains("a") && !map.contains("c"))
        #expect(map.values.sorted() == [0, 7])
        map.put(8, for: "d")
        map.makeRoom(below: 2)
        #expect(map.count == 1)
        #expect(map.oldest?.value == 8)
        map.makeRoom(below: 0)
        #expect(map.count == 0)
    }

    @Test func `any steps leave the order that a list would have`() {
        var (map, list) = (LRUMap<Int, Int>(), [Int]())
        var (state, mistakes) = (UInt64(1), 0)
        for step in 0..<5000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = Int(state >> 33 & 7)
            let isKnown = list.contains(key)
            list.removeAll { $0 == key }
            switch state >> 40 & 3 {
            case 0: map.remove(key)
            case 1:
                if (map.use(key) != nil) != isKnown { mistakes += 1 }
                if isKnown { list.append(key) }
            default:
                map.put(step, for: key)
                list.append(key)
            }
            if map.oldest?.key != list.first || map.count != list.count { mistakes += 1 }
        }
        #expect(mistakes == 0)
    }
}
