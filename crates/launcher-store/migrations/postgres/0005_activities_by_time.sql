-- Lines are removed by their age. A clock that was wrong has written some that are older or younger than their neighbours.
CREATE INDEX activities_at ON activities (at);
