"""The simulated micro-blog (section 4 of the specification of the classes)."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi
from wildtool.toolcall.refusals import refuse_if


class TwitterAPI(SimulatedApi):
    """Posts of one user, with comments, mentions and followed users."""

    NAME = "TwitterAPI"
    DOCUMENTS = "posting_api"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        self.state["tweets"] = {int(key): tweet for key, tweet in self.state["tweets"].items()}
        # Posts without tags or mentions share one list, so a later mention of one of them changes them all.
        self._no_tags: list[Any] = []
        self._no_mentions: list[Any] = []

    def authenticate_twitter(self, username: Any, password: Any) -> ApiState:
        if username != self.state["username"] or password != self.state["password"]:
            return {"authentication_status": False}
        self.state["authenticated"] = True
        return {"authentication_status": True}

    def posting_get_login_status(self) -> ApiState:
        return {"login_status": bool(self.state["authenticated"])}

    def post_tweet(self, content: Any, tags: Any = None, mentions: Any = None) -> ApiState:
        self._require_login()
        number: int = self.state["tweet_counter"]
        tweet = {
            "id": number,
            "username": self.state["username"],
            "content": content,
            "tags": self._no_tags if tags is None else tags,
            "mentions": self._no_mentions if mentions is None else mentions,
        }
        self.state["tweets"][number] = tweet
        self.state["tweet_counter"] = number + 1
        return tweet

    def retweet(self, tweet_id: Any) -> ApiState:
        self._require_login()
        self._require_tweet(tweet_id)
        own = self.state["retweets"].setdefault(self.state["username"], [])
        if tweet_id in own:
            return {"retweet_status": "Already retweeted"}
        own.append(tweet_id)
        return {"retweet_status": "Successfully retweeted"}

    def comment(self, tweet_id: Any, comment_content: Any) -> ApiState:
        self._require_login()
        self._require_tweet(tweet_id)
        comment = {"username": self.state["username"], "content": comment_content}
        self.state["comments"].setdefault(tweet_id, []).append(comment)
        return {"comment_status": "Comment added successfully"}

    def mention(self, tweet_id: Any, mentioned_usernames: Any) -> ApiState:
        self._require_tweet(tweet_id)
        self.state["tweets"][tweet_id]["mentions"].extend(mentioned_usernames)
        return {"mention_status": "Users mentioned successfully"}

    def follow_user(self, username_to_follow: Any) -> ApiState:
        self._require_login()
        following = self.state["following_list"]
        is_new = username_to_follow not in following
        if is_new:
            following.append(username_to_follow)
        return {"follow_status": is_new}

    def unfollow_user(self, username_to_unfollow: Any) -> ApiState:
        self._require_login()
        following = self.state["following_list"]
        is_followed = username_to_unfollow in following
        if is_followed:
            following.remove(username_to_unfollow)
        return {"unfollow_status": is_followed}

    def list_all_following(self) -> Any:
        self._require_login()
        return {"following_list": self.state["following_list"]}

    def get_tweet(self, tweet_id: Any) -> ApiState:
        self._require_tweet(tweet_id)
        return self.state["tweets"][tweet_id]

    def get_user_tweets(self, username: Any) -> list[ApiState]:
        return [tweet for tweet in self.state["tweets"].values() if tweet["username"] == username]

    def search_tweets(self, keyword: Any) -> list[ApiState]:
        return [
            tweet
            for tweet in self.state["tweets"].values()
            if keyword.lower() in tweet["content"].lower()
            or keyword.lower() in [tag.lower() for tag in tweet["tags"]]
        ]

    def get_tweet_comments(self, tweet_id: Any) -> list[ApiState] | ApiState:
        self._require_tweet(tweet_id)
        return self.state["comments"].get(tweet_id, [])

    def get_user_stats(self, username: Any) -> ApiState:
        is_own = username == self.state["username"]
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.state["following_list"]) if is_own else 0,
            "retweet_count": len(self.state["retweets"].get(username, [])),
        }

    def _require_login(self) -> None:
        refuse_if(not self.state["authenticated"], "the user is not authenticated")

    def _require_tweet(self, tweet_id: Any) -> None:
        refuse_if(tweet_id not in self.state["tweets"], f"tweet {tweet_id!r} not found")
