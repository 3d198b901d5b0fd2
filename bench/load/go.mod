module launcher.example/bench/load

go 1.24
