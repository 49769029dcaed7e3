import Testing

@testable import FTP

struct DirectoryEntryTests {
    @Test(arguments: [
        ("-rw-r--r--    1 0        0        33554432 Nov 21 10:17 big.bin", "file big.bin 33554432 Nov 21 10:17"),
        ("drwxr-xr-x    2 ftp      ftp          4096 Jan  1  2020 sub dir", "directory sub dir  Jan 1 2020"),
        ("-rw-r--r--   1 owner  1234 Feb 29 23:59 no group", "file no group 1234 Feb 29 23:59"),
        ("lrwxrwxrwx   1 0 0 7 Nov 21 10:17 link -> target", "link link  Nov 21 10:17"),
        ("-rw-r--r--   1 0 0 7 Nov 21 10:17  two blanks ", "file  two blanks  7 Nov 21 10:17"),
        ("11-21-26  10:00AM       <DIR>          Program Files", "directory Program Files  11-21-26 10:00AM"),
        ("11-21-2026  10:00PM               1,234 x", nil),
        ("11-21-26  10:00PM                 1234 read me.txt", "file read me.txt 1234 11-21-26 10:00PM"),
        ("total 12", nil), ("", nil), ("drwxr-xr-x 2 0 0 4096 Nov 21 10:17 .", nil),
        ("drwxr-xr-x 2 0 0 4096 Nov 21 10:17 ..", nil), ("-rw-r--r-- 1 0 0 1 Nov 21 10:17", nil),
        ("-rw-r--r-- 1 0 0 1 Nov 21 10:17 a/b", nil), ("lrwxrwxrwx 1 0 0 1 Nov 21 10:17  -> x", nil),
        ("-rw-r--r-- Nov 21", nil), ("some other server's words", nil),
    ])
    func `a line is read as ls or DOS write it, or not at all`(line: String, entry: String?) {
        let read = DirectoryEntry.of(Array(line.utf8)).map { entry in
            "\(entry.kind) \(String(decoding: entry.name, as: UTF8.self)) \(entry.size) \(entry.date)"
        }
        #expect(read == entry)
    }
}
