package leader_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A scenario is one of the tests that Curator has of its elections.
type scenario struct {
	curator string
	here    string // the test, or the law of an election, that has it; empty if it is left out
	why     string // it is left out, or differs
}

// scenarios are all of them: TestLeaderLatch, TestLeaderSelector and the smaller ones beside them.
var scenarios = []scenario{
	// TestLeaderLatch
	{"testWithCircuitBreaker", "TestCandidatesKeepTheirPlacesOverRestarts", "there is no circuit breaker, and a restart ends no term"},
	{"testUncreatedPathGetLeader", "TestNobodyLeadsAtAPathWithoutParticipants", ""},
	{"testGetChildrenHitsNoNode", "TestServerThatIsReplacedByAnEmptyOneHasOneLeader", ""},
	{"testWatchedNodeDeletedOnReconnect", "TestFollowerLeadsIfTheLeaderHasLeftDuringItsOutage", ""},
	{"testSessionInterruptionDoNotCauseBrainSplit", "G7 a leader whose session ends leads no more, and stands again", ""},
	{"testResettingOfLeadershipAfterConcurrentLeadershipChange", "TestSessionsThatEndTogetherLeaveOneLeader", ""},
	{"testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved", "G8 a candidate whose node is removed stands again", ""},
	{"testSessionErrorPolicy", "TestErrorPolicyDecidesWhetherABlipEndsATerm", "under the standard policy the latch has a new node"},
	{"testErrorPolicies", "TestErrorPolicyDecidesWhetherABlipEndsATerm", ""},
	{"testProperCloseWithoutConnectionEstablished", "TestCloseEndsAStartThatWaits", ""},
	{"testResetRace", "TestLatchStandsAgainAfterEachLoss", "there is no reset that could race; one goroutine stands"},
	{"testCreateDeleteRace", "TestLatchClosedDuringItsCreateLeavesNoNode", ""},
	{"testLostConnection", "TestNoneLeadsWithoutAServer", ""},
	{"testCorrectWatching", "G5 a candidate that gives up leaves no node", ""},
	{"testWaiting", "G1 one leader at a time, over many terms", ""},
	{"testBasic", "G3 they lead in the order in which they came, and all list it", ""},
	{"testBasicAlt", "G3 they lead in the order in which they came, and all list it", ""},
	{"testCallbackSanity", "TestTenLatchesHearOfTheirOwnTermsAlone", ""},
	{"testCallbackNotifyLeader", "TestTenLatchesHearOfTheirOwnTermsAlone", "to be called at Close is the rule; stop before it is SILENT"},
	{"testCallbackDontNotify", "TestTenLatchesHearOfTheirOwnTermsAlone", ""},
	{"testNoServerAtStart", "TestStartWaitsForAServer", "Start waits for the connection timeout, and fails then"},
	{"testRelativePath", "TestStartThatFailsLeavesTheLatchAsItWas", ""},
	// TestLeaderLatchCluster, TestLeaderLatchIsolatedZookeeper, TestLeaderAcls
	{"testInCluster", "TestSimulation", "with ensembles of three; integration/ensemble has real ones, for locks"},
	{"testThatLeaderLatchUponReset…", "TestTermsKeepTheLaws", "its law of a follower that lags"},
	{"testAclErrorWithLeader", "TestCandidateWithoutPermissionFails", ""},
	// TestLeaderSelector
	{"testInterruption", "TestRunWaitsForItsFunctionBeforeItResigns", "an interruption is the end of ctx"},
	{"testErrorPolicies of selectors", "TestErrorPolicyDecidesWhetherABlipEndsATerm", ""},
	{"testLeaderNodeDeleteOnInterrupt", "TestLeaderThatEndsDuringAnOutageLeavesNoNode", ""},
	{"testInterruptLeadershipWithRequeue", "TestRunStandsAgainBehindTheOthers", "a function leaves by returning"},
	{"testInterruptLeadership", "TestRunWaitsForItsFunctionBeforeItResigns", ""},
	{"testRaceAtStateChanged", "", "a function that is called after the loss has a ctx that has ended"},
	{"testAutoRequeue", "TestRunStandsAgainBehindTheOthers", ""},
	{"testServerDying", "TestRunLeadsAgainAfterEachLoss", ""},
	{"testKillSessionThenCloseShouldElectNewLeader", "G7 a leader whose session ends leads no more, and stands again", ""},
	{"testKillServerThenCloseShouldElectNewLeader", "TestCandidatesKeepTheirPlacesOverRestarts", ""},
	{"testClosing", "G5 a candidate that gives up leaves no node", ""},
	{"testRotatingLeadership", "TestRunStandsAgainBehindTheOthers", ""},
	// TestLeaderSelectorCluster, …Participants, …Edges, …WithExecutor
	{"testRestart", "TestSimulation", ""},
	{"testLostRestart", "TestRunLeadsAgainAfterEachLoss", ""},
	{"testId", "G3 they lead in the order in which they came, and all list it", ""},
	{"testBasic of participants", "G3 they lead in the order in which they came, and all list it", ""},
	{"flappingTest", "TestTermsKeepTheLaws", "its laws of lost replies, G6"},
	{"createProtectedNodeInBackgroundTest", "TestTermsKeepTheLaws", "the same"},
	{"createProtectedNodeInBackgroundTestNoRetry", "TestTermsKeepTheLaws", "the same"},
	{"TestLeaderSelectorWithExecutor.test", "", "there are no executors: the function runs on the goroutine of Run"},
}

// Each scenario has a test that exists, or a reason.
func TestEveryScenarioOfCuratorHasItsTest(t *testing.T) {
	var source []byte
	for _, pattern := range []string{"*_test.go", "leadertest/*.go"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, file := range files {
			if file == "curator_table_test.go" {
				continue
			}
			text, err := os.ReadFile(file)
			must(t, err)
			source = append(source, text...)
		}
	}
	listed := map[string]bool{}
	for _, s := range scenarios {
		name := regexp.QuoteMeta(s.here)
		switch {
		case listed[s.curator]:
			t.Errorf("%s is listed twice", s.curator)
		case s.here == "" && s.why == "":
			t.Errorf("%s has neither a test nor a reason", s.curator)
		case s.here != "" && !regexp.MustCompile(`func `+name+`\(t \*testing|\{"`+name+`",`).Match(source):
			t.Errorf("%s: there is no test %s", s.curator, s.here)
		}
		listed[s.curator] = true
	}
}
