import Glibc
import IO

/// Measures the release binary beside HAProxy on this machine. Exits 0, 1 (a gate failed) or 2 (it could not measure).
@main
struct Bench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do throws(BenchError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            Descriptors.raiseLimit()
            Processors.pinLoad()
            let loop = try makeLoop(0)
            let originLoop = try makeLoop(1)
            loop.spawn { await measure(options, on: loop, originLoop: originLoop) }
            while true { pause() }
        } catch {
            fail(error)
        }
    }

    private static func measure(_ options: Options, on loop: EventLoop, originLoop: EventLoop) async {
        do throws(BenchError) {
            let suite = try Suite(options, on: loop, originLoop: originLoop)
            let report = await suite.run()
            print(report.text)
            exit(report.passes ? 0 : 1)
        } catch {
            fail(error)
        }
    }

    private static func makeLoop(_ index: Int) throws(BenchError) -> EventLoop {
        do throws(IOError) {
            let loop = try EventLoop(index: index)
            loop.start()
            return loop
        } catch {
            throw .connection(error)
        }
    }

    /// Says something beside the report, on standard error.
    static func note(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(2, bytes, bytes.count)
    }

    private static func fail(_ error: BenchError) -> Never {
        note("bench: \(error)")
        if case .usage = error { note(Options.usage) }
        exit(2)
    }
}
