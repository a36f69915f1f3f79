package coretest_test

import (
	"flag"
	"testing"

	"bellhop/core/coretest"
)

var update = flag.Bool("update", false, "rewrite the golden sections of the talks")

func TestTalk(t *testing.T) { coretest.Run(t, "testdata/*.txtar", *update) }
