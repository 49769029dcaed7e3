import Testing

@testable import Authentication

/// The promises P1 to P4 of `Account`, over random walks and in small worlds. `Tests/refusals` plays many more of both.
@Suite struct RefusalWalkTests {
    @Test(arguments: 0..<4) func `random walks keep the promises`(_ part: Int) {
        for seed in 0..<50 {
            let seed = 50 * part + seed
            var walk = Walk(seed: seed)
            #expect(throws: Never.self, "walk \(seed), \(walk.plan)") { try walk.run(requests: 200) }
        }
    }

    @Test(arguments: WorldSetting.all) func `all that can happen in a small world keeps the promises`(
        _ setting: WorldSetting
    ) {
        #expect(throws: Never.self) { try Exploration(of: setting, depth: 6, limit: 1000) }
    }
}
